// The program that the names of coroutines are tested with.
#include "../../SymbolicationTests/Programs/coroutines.cpp"
