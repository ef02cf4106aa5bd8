/* See crash.h. */
#include "events/crash.h"

#include "base/moment.h"
#include "events/hook.h"
#include "events/interrupted_stack.h"
#include "events/record_event.h"
#include "trace/meta_writer.h"
#include "trace/trace_file.h"
#include <signal.h>

static void write_record(struct mt_crash_record *record) {
    record->time = mt_moment();
    record->thread = mt_tls.index;
    struct mt_piece piece = {record, sizeof *record};
    mt_meta_write(MT_RECORD_CRASH, &piece, 1);
}

/* Of other signals the kernel says nothing that is an access. */
static uint32_t access_of(int signal, int code, const void *context) {
    bool is_access = code > 0 && (signal == SIGSEGV || signal == SIGBUS);
    return is_access ? mt_registers_access(context) : MT_ACCESS_UNKNOWN;
}

void mt_crash_note_signal(int signal, int code, uintptr_t address, const void *context) {
    struct mt_registers registers;
    mt_registers_read(&registers, context);
    struct mt_crash_record record = {.address = address,
                                     .signal = (uint32_t)signal,
                                     .code = code,
                                     .kind = access_of(signal, code, context),
                                     .stack_pointer =
                                         mt_tls.stack_end == UINTPTR_MAX ? 0 : registers.sp,
                                     .is_out_of_stack = mt_tls.stack_end != 0,
                                     .stack = mt_interrupted_stack(&registers)};
    write_record(&record);
}

void mt_crash_note_abort(struct mt_frame caller) {
    struct mt_call call = {caller, MT_ENTRY_PASS, 0};
    call.entry = mt_enter(caller.sp);
    if (call.entry == MT_ENTRY_PASS)
        return;
    struct mt_crash_record record = {
        .signal = SIGABRT, .code = SI_TKILL, .kind = MT_ACCESS_UNKNOWN};
    if (call.entry == MT_ENTRY_RECORD)
        record.stack = mt_capture_stack(mt_tls.thread, &call);
    write_record(&record);
    mt_leave(call.entry);
}
