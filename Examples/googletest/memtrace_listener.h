// Tells memtrace which test runs, so that a leak is reported with it. Does nothing while memtrace
// does not record the program.
#pragma once

#include <gtest/gtest.h>
#include <memtrace.h>
#include <string>

class MemtraceListener : public testing::EmptyTestEventListener {
    static void mark(const char *what, const testing::TestInfo &test) {
        std::string text = std::string(what) + ": " + test.test_suite_name() + "." + test.name();
        MEMTRACE_MARK(text.c_str());
    }
    void OnTestStart(const testing::TestInfo &test) override {
        mark("test began", test);
    }
    void OnTestEnd(const testing::TestInfo &test) override {
        mark("test ended", test);
    }
};
