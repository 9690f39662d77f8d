/* signal.c - a console control handler sets the flag; a second event is left to the system, which ends the process. */
#include "platform/signal.h"

#include <windows.h>

#include "platform/atomic.h"

static mx_atomic_u32 interrupted;

static BOOL WINAPI on_event(DWORD event)
{
    (void)event;
    return mx_atomic_exchange_u32(&interrupted, 1) == 0; /* TRUE: dealt with */
}

void mx_signal_install(void)
{
    SetConsoleCtrlHandler(on_event, TRUE);
}

bool mx_signal_is_interrupted(void)
{
    return mx_atomic_load_u32(&interrupted) != 0;
}

void mx_signal_reset(void)
{
    mx_atomic_store_u32(&interrupted, 0);
}
