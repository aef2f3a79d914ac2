/* Structures as bytes and back, by one description of their fields that serves both directions, so
   that these cannot differ: what visits a field appends its value to the bytes, or sets it from
   them.

   Layout: struct header of codec.c, then a zstd frame.  Inside it numbers are ULEB128 (an index is
   stored plus one, so that PM_NONE is 0), doubles are 8 bytes, a text is its length plus one (0:
   NULL) and its bytes, an array is its length and its elements. */
#ifndef PM_CODEC_H
#define PM_CODEC_H

#include <stdint.h>

#include "core/base/base.h"

/* What the bytes are of. */
struct pm_codec_kind {
    char magic[5];
    uint32_t version;
    const char *what;  /* "the program's structure is", for sentences */
    const char *again; /* what to do if they are damaged */
};

struct pm_codec {
    bool reading;
    struct pm_reader in;            /* reading: what is unpacked; its fault is the codec's */
    struct pm_unpacking *unpacking; /* reading: what is not; owned */
    PM_ARRAY(uint8_t, bytes);       /* writing; owned */
};

/* Gives what was written, packed, as *BYTES, owned by the caller (free), and frees the rest. */
void pm_codec_seal(struct pm_codec *codec, const struct pm_codec_kind *kind, void **bytes,
                   size_t *n_bytes);
/* Makes CODEC one that reads what is in BYTES, which stay until it is closed; a part of it is
   unpacked at a time.  False with a sentence: they are of another kind or version, or damaged. */
bool pm_codec_open(struct pm_codec *codec, const struct pm_codec_kind *kind, const void *bytes,
                   size_t n_bytes, struct pm_error *err);
/* Takes a copy of what CODEC has not unpacked, a part of which is freed whenever it was unpacked:
   the bytes that it was opened with need not stay. */
void pm_codec_keep_rest(struct pm_codec *codec);
/* Was all read, and nothing at fault?  Else there is a sentence. */
bool pm_codec_close(struct pm_codec *codec, const struct pm_codec_kind *kind, struct pm_error *err);

/* ---- fields -----------------------------------------------------------------------------------
 */

/* VALUE as it was read, at most MOST, else the codec is at fault and it is 0; or VALUE itself. */
uint64_t pm_code_number(struct pm_codec *codec, uint64_t value, uint64_t most);
void pm_code_signed(struct pm_codec *codec, int64_t *value);
void pm_code_raw(struct pm_codec *codec, void *data, size_t n_bytes);
void pm_code_double(struct pm_codec *codec, double *value);
void pm_code_text(struct pm_codec *codec, char **text);
/* Length of an array whose elements take LEAST bytes or more: no more than what is left can be. */
size_t pm_code_length(struct pm_codec *codec, size_t n, size_t least);
/* The same, and memory for so many elements of SIZE bytes, if read; gives the array. */
void *pm_code_array(struct pm_codec *codec, void *array, size_t *n, size_t size, size_t least);

/* For functions in which the codec is called so. */
#define U8(field) ((field) = (uint8_t)pm_code_number(codec, (field), UINT8_MAX))
#define U16(field) ((field) = (uint16_t)pm_code_number(codec, (field), UINT16_MAX))
#define U32(field) ((field) = (uint32_t)pm_code_number(codec, (field), UINT32_MAX))
#define U64(field) ((field) = pm_code_number(codec, (field), UINT64_MAX))
#define BOOL(field) ((field) = pm_code_number(codec, (field), 1) != 0)
#define INDEX(field)                                                                               \
    ((field) = (uint32_t)pm_code_number(codec, (uint32_t)((field) + 1), UINT32_MAX) - 1)
#define REAL(field) pm_code_double(codec, &(field))
/* What is read must be so. */
#define MUST(condition) ((void)(codec->reading && !(condition) && (codec->in.fault = PM_READ_BAD)))
/* A growable array (PM_ARRAY), element by element. */
#define GROWABLE(s, name, code_element)                                                            \
    do {                                                                                           \
        size_t length_ = pm_code_length(codec, (s)->n_##name, 1);                                  \
        for (size_t i_ = 0; i_ < length_ && !codec->in.fault; i_++)                                \
            code_element(codec, codec->reading ? PM_PUSH(s, name) : &(s)->name[i_]);               \
    } while (0)

#endif
