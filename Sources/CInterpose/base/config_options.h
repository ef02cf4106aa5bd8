/* Every MEMTRACE_* variable the recorder reads: X(field, variable, type, default, low, high, help).
 * Types: NUMBER (uint64_t, low...high), BYTES (the same, with an optional unit), ALIGNMENT (the
 * same, a power of two), STRING (copied; low: the function of config.c that tells whether it makes
 * sense, or 0; high unused). */
#define MT_FOR_EACH_OPTION(X)                                                                      \
    X(output, "MEMTRACE_OUTPUT", STRING, "", 0, 0,                                                 \
      "path of the trace; default NAME.mtrace in the working directory; %p is the process id, %n " \
      "the program's name; when it exists, STEM.NAME.PID.mtrace beside it is written instead")     \
    X(depth, "MEMTRACE_DEPTH", NUMBER, 128, 1, 1024, "greatest number of frames per stack")        \
    X(follow, "MEMTRACE_FOLLOW", NUMBER, 1, 0, 1, "record child processes as well")                \
    X(verbose, "MEMTRACE_VERBOSE", NUMBER, 1, 0, 1, "say on stderr why recording is not possible") \
    X(launched, "MEMTRACE_LAUNCHED", NUMBER, 0, 0, 1, "set by `memtrace record`")                  \
    X(stacks, "MEMTRACE_STACKS", NUMBER, 1, 0, 1, "take a stack with every event")                 \
    X(sample, "MEMTRACE_SAMPLE", BYTES, 0, 0, 1ull << 40,                                          \
      "record one sample in so many bytes, with its end; 0: everything")                           \
    X(sample_seed, "MEMTRACE_SAMPLE_SEED", NUMBER, 0, 0, UINT64_MAX / 10 - 1,                      \
      "makes the choice of samples repeatable; 0: random")                                         \
    X(paused, "MEMTRACE_PAUSED", NUMBER, 0, 0, 1,                                                  \
      "record allocations only after `memtrace resume`, until `memtrace pause`")                   \
    X(unwinder, "MEMTRACE_UNWINDER", STRING, "auto", is_unwinder, 0,                               \
      "auto; libunwind: every stack by libunwind; compare: both ways, differences counted")        \
    X(types, "MEMTRACE_TYPES", NUMBER, 1, 0, 1,                                                    \
      "look at the first words of some blocks of each stack to tell their types")                  \
    X(bundled_allocator, "MEMTRACE_BUNDLED_ALLOCATOR", NUMBER, 0, 0, 1,                            \
      "record the allocator that is linked into an executable: its calls are led to the recorder") \
    X(mappings, "MEMTRACE_MAPPINGS", NUMBER, 0, 0, 1,                                              \
      "record calls that map memory and unmap it: mmap, munmap, mremap, mprotect, brk, sbrk")      \
    X(refcounts, "MEMTRACE_REFCOUNTS", STRING, "", 0, 0,                                           \
      "record retains and releases of Swift objects: 1 of all types, or patterns with commas "     \
      "between them; 0 or empty: none")                                                            \
    X(snapshot_at_exit, "MEMTRACE_SNAPSHOT_AT_EXIT", NUMBER, 1, 0, 1,                              \
      "take a heap snapshot when the process ends by itself: exit, _exit, quick_exit, abort")      \
    X(snapshot_contents, "MEMTRACE_SNAPSHOT_CONTENTS", NUMBER, 0, 0, 1,                            \
      "keep all of the memory in snapshots, not only what can be pointers")                        \
    X(snapshot_at_marks, "MEMTRACE_SNAPSHOT_AT_MARKS", NUMBER, 0, 0, 1,                            \
      "take a heap snapshot with every mark of the program")                                       \
    X(snapshot_on_request, "MEMTRACE_SNAPSHOT_ON_REQUEST", NUMBER, 0, 0, 1,                        \
      "handle a real-time signal, with which `memtrace snapshot` asks for one")                    \
    X(snapshot_on_crash, "MEMTRACE_SNAPSHOT_ON_CRASH", NUMBER, 0, 0, 1,                            \
      "handle the signals that end a process by default, and take one before they do")             \
    X(zombies, "MEMTRACE_ZOMBIES", BYTES, 0, 0, 1ull << 40,                                        \
      "keep so many bytes of freed blocks back, filled with words that nobody may follow, and "    \
      "record what shows that they are used; implies MEMTRACE_SNAPSHOT_ON_CRASH; 0: none")         \
    X(redzones, "MEMTRACE_REDZONES", BYTES, 0, 0, 4096,                                            \
      "put so many bytes behind each block that nobody may write to, and record where somebody "   \
      "has; implies MEMTRACE_SNAPSHOT_ON_CRASH; 0: none")                                          \
    X(guard, "MEMTRACE_GUARD", STRING, "", is_numbers, 0,                                          \
      "blocks of these sizes (all, or 24,100-200) are guarded by pages that nobody may touch; "    \
      "implies MEMTRACE_SNAPSHOT_ON_CRASH; 0 or empty: none")                                      \
    X(guard_every, "MEMTRACE_GUARD_EVERY", NUMBER, 1, 1, 1u << 30,                                 \
      "of these, guard one in so many, chosen at random")                                          \
    X(guard_alignment, "MEMTRACE_GUARD_ALIGNMENT", ALIGNMENT, 16, 1, 16,                           \
      "least alignment of guarded blocks, a power of two: that of malloc is 16, and leaves up to " \
      "15 bytes between a block and its guard")                                                    \
    X(guard_front, "MEMTRACE_GUARD_FRONT", NUMBER, 0, 0, 1,                                        \
      "begin guarded blocks where their pages do, to stop who goes in front of one")               \
    X(fail_at, "MEMTRACE_FAIL_AT", STRING, "", is_numbers, 0,                                      \
      "these allocations of the process, counted from 1, fail (5,100-200,1000-); 0 or empty: "     \
      "none")                                                                                      \
    X(limit, "MEMTRACE_LIMIT", BYTES, 0, 0, 1ull << 50,                                            \
      "allocations fail that would make more bytes of live blocks; 0: none")                       \
    X(max_size, "MEMTRACE_MAX_SIZE", BYTES, 0, 0, 1ull << 50,                                      \
      "recording stops before the trace of a process has more bytes; 0: it may have any size")     \
    X(keep_free, "MEMTRACE_KEEP_FREE", BYTES, 64ull << 20, 0, 1ull << 50,                          \
      "recording stops before the trace's file system has fewer bytes free, or a sixteenth of its" \
      " own, if that is less; 0: when it is full")                                                 \
    X(snapshot_interval, "MEMTRACE_SNAPSHOT_INTERVAL", NUMBER, 0, 0, 86400,                        \
      "seconds between heap snapshots; 0: none")                                                   \
    X(canary, "MEMTRACE_CANARY", NUMBER, 0, 0, 1,                                                  \
      "leak a block of 1729 bytes at the start, for `memtrace check --canary`")                    \
    X(skip, "MEMTRACE_SKIP", STRING, "", 0, 0,                                                     \
      "programs whose traces hold nothing but who they were and how they ended: names, in which "  \
      "* "                                                                                         \
      "and ? stand for other text, with commas between them; what they start is recorded")         \
    X(attached, "MEMTRACE_ATTACHED", NUMBER, 0, 0, UINT64_MAX / 10 - 1,                            \
      "set by `memtrace attach`: how many nanoseconds the process had run for")                    \
    X(session, "MEMTRACE_SESSION", STRING, "", is_session, 0,                                      \
      "32 hexadecimal digits shared by all traces of one recording; made up when missing")         \
    X(parent, "MEMTRACE_PARENT", STRING, "", 0, 0,                                                 \
      "internal: trace id and pid of the process that ran exec, as HEX:PID")                       \
    X(replaces, "MEMTRACE_REPLACES", STRING, "", 0, 0,                                             \
      "internal: small trace of a forked child before its exec, removed by the new image")
