#include "csymbolication.h"
