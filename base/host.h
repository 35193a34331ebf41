/* What this machine has. */
#ifndef BASE_HOST_H
#define BASE_HOST_H

#include <stdint.h>

/* Bytes of memory that programs may still take before it is scarce (MemAvailable); -1: nobody
 * knows. */
int64_t host_memory_available(void);

#endif
