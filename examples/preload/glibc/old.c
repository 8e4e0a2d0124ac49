// glibc 2.32 and 2.34 moved these functions into libc.so.6 and gave them new versions, which older systems do not have.
// What is linked with this stub first asks for the old versions, which all systems have (make preload). The
// stub itself is not needed at run time.

#define TP_OLD(name) void name(void) {}

TP_OLD(dladdr)
TP_OLD(dlclose)
TP_OLD(dlerror)
TP_OLD(dlopen)
TP_OLD(dlsym)
TP_OLD(pthread_attr_getstack)
TP_OLD(pthread_attr_getstacksize)
TP_OLD(pthread_create)
TP_OLD(pthread_getattr_np)
TP_OLD(pthread_key_create)
TP_OLD(pthread_once)
TP_OLD(pthread_setspecific)
TP_OLD(pthread_sigmask)
