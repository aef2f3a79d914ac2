/* The entry of pmodel-MAJOR.so, called by the loader (gcc-plugin/loader.c).  Internal structures
   differ between two builds of one GCC version, so the running compiler has to be the very one
   whose headers this was compiled with. */
#include "function_state.h"

#pragma GCC visibility push(default)
int plugin_is_GPL_compatible;
extern "C" int pm_body_init(struct plugin_name_args *arguments,
                            struct plugin_gcc_version *compiler);
#pragma GCC visibility pop

int pm_body_init(struct plugin_name_args *arguments, struct plugin_gcc_version *compiler) {
    if (!plugin_default_version_check(compiler, &gcc_version)) {
        bool same_version = strcmp(compiler->basever, gcc_version.basever) == 0 &&
                            strcmp(compiler->datestamp, gcc_version.datestamp) == 0;
        fprintf(stderr,
                "pmodel: the plugin was built for GCC %s (%s) and this compiler is GCC %s (%s)%s: "
                "install the gcc-%d-plugin-dev of this compiler and rebuild pmodel.\n",
                gcc_version.basever, gcc_version.datestamp, compiler->basever, compiler->datestamp,
                same_version ? ", configured differently" : "", atoi(compiler->basever));
        return 1;
    }
    pm_register_passes(arguments->base_name);
    return 0;
}
