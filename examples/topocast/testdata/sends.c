/* Loaded before UCX, it prints "sends BROADCAST BYTES" for each message that an MPI library sends once the variable BROADCAST is
   set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *send_function(void *, const void *, size_t, uint64_t, const void *);

void *ucp_tag_send_nbx(void *endpoint, const void *buf, size_t count, uint64_t tag, const void *param)
{
    static send_function *send;
    const char *broadcast = getenv("BROADCAST");

    if (send == NULL)
        send = (send_function *) dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
    if (broadcast != NULL)
        fprintf(stderr, "sends %s %zu\n", broadcast, count);
    return send(endpoint, buf, count, tag, param);
}
