/* Numbers and sizes of messages as functions of the size: for each call path and operation that
   ranks of one role, or all of them, were at, how many events a rank has and how many bytes it
   sends and receives in them (core/communication/communication.h). */
#ifndef PM_MESSAGES_H
#define PM_MESSAGES_H

#include <stdint.h>

#include "core/model.h"

enum pm_message_quantity {
    PM_MESSAGE_EVENTS,
    PM_MESSAGE_BYTES_SENT,
    PM_MESSAGE_BYTES_RECEIVED,
    PM_N_MESSAGE_QUANTITIES,
};
const char *pm_message_quantity_word(enum pm_message_quantity quantity); /* "bytes_sent" */

struct pm_message_item {
    uint32_t path;      /* of the store */
    uint16_t operation; /* enum pm_operation */
    /* Some events of a run did not tell it, so that there is no model. */
    bool unknown[PM_N_MESSAGE_QUANTITIES];
};

/* Of the mean rank of a role, or of all ranks added up. */
struct pm_message_models {
    PM_ARRAY(struct pm_message_item, items); /* by path and operation; owned */
    /* In place of edges one model for each item and quantity: edges[item · PM_N_MESSAGE_QUANTITIES
       + quantity].  Owned. */
    struct pm_model_set *models;
};
void pm_message_models_free(struct pm_message_models *messages); /* and the struct; NULL: none */

#endif
