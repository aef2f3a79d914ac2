/* Models of messages; see messages.h. */
#include "core/messages/messages.h"

#include <stdlib.h>

const char *pm_message_quantity_word(enum pm_message_quantity quantity) {
    static const char *const words[PM_N_MESSAGE_QUANTITIES] = {"events", "bytes_sent",
                                                               "bytes_received"};
    return words[quantity];
}

void pm_message_models_free(struct pm_message_models *messages) {
    if (!messages)
        return;
    pm_model_set_free(messages->models);
    free(messages->items);
    free(messages);
}
