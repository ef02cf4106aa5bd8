/* Between the hooks of syscall() and of the exec family. */
#ifndef MT_EXEC_BY_NUMBER_H
#define MT_EXEC_BY_NUMBER_H

/* Executes a program as the hook of execve does, for a host that is about to do so by the number.
 *
 * number     SYS_execve or SYS_execveat
 * arguments  what it is called with
 * returns    where that failed, also for what we put into the environment, or where one of the
 *            hooks is what calls: it is to be called as it was meant then */
void mt_exec_by_number(long number, const long arguments[5]);

#endif
