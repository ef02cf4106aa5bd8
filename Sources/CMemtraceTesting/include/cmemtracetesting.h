/* Calls MemtraceTesting when the test program is loaded: XCTest on Linux has no principal class
 * where an observer could be registered. */
#ifndef CMEMTRACETESTING_H
#define CMEMTRACETESTING_H

/* Defined by the module MemtraceTesting. */
void memtrace_testing_load(void);

#endif
