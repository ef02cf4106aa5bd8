// A class that compilers describe where its functions are defined.
#include <string>

namespace app {

struct Homed {
  Homed();
  virtual ~Homed();
  Homed *next;
  std::string name;
};

} // namespace app
