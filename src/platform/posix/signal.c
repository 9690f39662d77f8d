/* signal.c - SIGINT and SIGTERM set a flag. The handler is dropped at its first call, so a second Ctrl-C kills. System
 * calls are not restarted: whoever waits in one looks at the flag (io.c). */
#include "platform/signal.h"

#include <signal.h>
#include <string.h>

#include "platform/atomic.h"

static mx_atomic_u32 interrupted; /* lock-free, so a handler may store it */

static void on_interrupt(int number)
{
    (void)number;
    mx_atomic_store_u32(&interrupted, 1);
}

/* Who started us in the background, or under nohup, has had signals ignored: they stay so. */
static void catch_signal(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN) {
        return;
    }
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESETHAND;
    sigaction(number, &action, NULL);
}

static void install_interrupt(void)
{
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
}

void mx_signal_install(void)
{
    struct sigaction ignore;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, NULL);
    install_interrupt();
}

bool mx_signal_is_interrupted(void)
{
    return mx_atomic_load_u32(&interrupted) != 0;
}

void mx_signal_reset(void)
{
    mx_atomic_store_u32(&interrupted, 0);
    install_interrupt();
}
