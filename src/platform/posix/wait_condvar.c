/* wait_condvar.c - sleeping on a word where the system has no such call: a few locks, chosen by the word's address.
 *
 * Words that share a lock wake each other's sleepers, who look at their word and sleep again.
 */
#include <pthread.h>

#include "platform/thread.h"

#define N_PLACES 8

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} places[N_PLACES] = {
#define PLACE                                               \
    {                                                       \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER \
    }
    PLACE, PLACE, PLACE, PLACE, PLACE, PLACE, PLACE, PLACE,
#undef PLACE
};

static size_t place_of(const mx_atomic_u32 *word)
{
    return ((uintptr_t)word >> 6) % N_PLACES; /* words of one cache line share */
}

void mx_wait_on_address(mx_atomic_u32 *word, uint32_t value)
{
    const size_t i = place_of(word);
    pthread_mutex_lock(&places[i].mutex);
    if (mx_atomic_load_u32(word) == value) {
        pthread_cond_wait(&places[i].cond, &places[i].mutex);
    }
    pthread_mutex_unlock(&places[i].mutex);
}

void mx_wake_all(mx_atomic_u32 *word)
{
    const size_t i = place_of(word);
    pthread_mutex_lock(&places[i].mutex);
    pthread_cond_broadcast(&places[i].cond);
    pthread_mutex_unlock(&places[i].mutex);
}

void mx_wake_one(mx_atomic_u32 *word)
{
    mx_wake_all(word); /* the one that a signal would choose may wait for another word */
}
