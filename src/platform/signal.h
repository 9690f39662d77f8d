/* signal.h - Ctrl-C as a flag that loops look at. */
#ifndef MX_PLATFORM_SIGNAL_H
#define MX_PLATFORM_SIGNAL_H

#include <stdbool.h>

/* From now on the first Ctrl-C (SIGINT, SIGTERM, closing of a Windows console) sets the flag and the second ends the
 * process as if nothing were installed. What the parent process has had ignored stays ignored. A reader that goes away
 * makes writes fail instead of ending the process. */
void mx_signal_install(void);

/* True once an interrupt has come. Safe from any thread. */
bool mx_signal_is_interrupted(void);

/* For tests and for a prompt that goes on: forgets the interrupt. */
void mx_signal_reset(void);

#endif
