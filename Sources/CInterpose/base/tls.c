/* See tls.h. */
#include "base/tls.h"

__thread struct mt_tls mt_tls __attribute__((tls_model("initial-exec"))) = {.mark = MT_TLS_MARK};
uint64_t mt_no_generation;
uint64_t *mt_generation = &mt_no_generation;
