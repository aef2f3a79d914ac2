#include "cmd/cmd.h"
int pm_cmd_html(int argc, char **argv) {
    (void)argc;
    (void)argv;
    return 0;
}
