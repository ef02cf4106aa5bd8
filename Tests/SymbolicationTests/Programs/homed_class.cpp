// Defines what the other unit uses.
#include "homed_class.h"

app::Homed::Homed() : next(nullptr) {}

app::Homed::~Homed() {}
