/* Structures as bytes and back; see codec.h. */
#include "core/codec.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#define MOST_CONTENT_BYTES UINT32_MAX /* nothing that is kept so comes near */

struct header {
    char magic[4];
    uint32_t version;
    uint64_t content_bytes; /* before compression */
    uint64_t checksum;      /* XXH3 of the compressed bytes, seeded with content_bytes */
};

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_codec_seal(struct pm_codec *codec, const struct pm_codec_kind *kind, void **bytes,
                   size_t *n_bytes) {
    struct header header = {.version = kind->version, .content_bytes = codec->n_bytes};
    size_t room = ZSTD_compressBound(codec->n_bytes);
    uint8_t *out = pm_alloc(sizeof header + room, 1);
    size_t packed = pm_pack(NULL, out + sizeof header, room, codec->bytes, codec->n_bytes);
    if (ZSTD_isError(packed)) /* there is room, so only memory can lack */
        abort();
    header.checksum = XXH3_64bits_withSeed(out + sizeof header, packed, codec->n_bytes);
    memcpy(header.magic, kind->magic, sizeof header.magic);
    memcpy(out, &header, sizeof header);
    free(codec->bytes);
    *n_bytes = sizeof header + packed;
    *bytes = pm_realloc(out, *n_bytes, 1);
}

static bool damaged(const struct pm_codec_kind *kind, struct pm_error *err) {
    return pm_fail(err, "%s damaged: %s", kind->what, kind->again);
}

bool pm_codec_open(struct pm_codec *codec, const struct pm_codec_kind *kind, const void *bytes,
                   size_t n_bytes, struct pm_error *err) {
    struct header header;
    const uint8_t *packed = (const uint8_t *)bytes + sizeof header;
    size_t n_packed = n_bytes - sizeof header, n = 0;
    if (n_bytes >= sizeof header)
        memcpy(&header, bytes, sizeof header);
    if (n_bytes < sizeof header || memcmp(header.magic, kind->magic, sizeof header.magic) != 0)
        return damaged(kind, err);
    if (header.version != kind->version)
        return pm_fail(err, "%s of format %u, and this pmodel reads format %u: %s", kind->what,
                       header.version, kind->version, kind->again);
    if (header.content_bytes > MOST_CONTENT_BYTES ||
        header.checksum != XXH3_64bits_withSeed(packed, n_packed, header.content_bytes))
        return damaged(kind, err);
    *codec = (struct pm_codec){.reading = true, .contents = pm_unpack(packed, n_packed, &n)};
    if (!codec->contents || n != header.content_bytes) {
        free(codec->contents);
        return damaged(kind, err);
    }
    codec->in = pm_reader_of(codec->contents, n);
    return true;
}

bool pm_codec_close(struct pm_codec *codec, const struct pm_codec_kind *kind,
                    struct pm_error *err) {
    free(codec->contents);
    return (!codec->in.fault && codec->in.at == codec->in.end) || damaged(kind, err);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void put(struct pm_codec *codec, const void *data, size_t n) {
    if (codec->n_bytes + n > codec->cap_bytes) {
        codec->cap_bytes = 2 * (codec->n_bytes + n) + 4096;
        codec->bytes = pm_realloc(codec->bytes, codec->cap_bytes, 1);
    }
    if (n > 0)
        memcpy(codec->bytes + codec->n_bytes, data, n);
    codec->n_bytes += n;
}

uint64_t pm_code_number(struct pm_codec *codec, uint64_t value, uint64_t most) {
    if (codec->reading) {
        value = pm_take_uleb(&codec->in);
        if (value <= most)
            return value;
        codec->in.fault = PM_READ_BAD;
        return 0;
    }
    uint8_t bytes[10];
    size_t n = 0;
    for (uint64_t rest = value; n == 0 || rest; rest >>= 7)
        bytes[n++] = (uint8_t)(rest | 0x80);
    bytes[n - 1] &= 0x7f;
    put(codec, bytes, n);
    return value;
}

/* Zigzag, so that small negative numbers stay short. */
void pm_code_signed(struct pm_codec *codec, int64_t *value) {
    uint64_t folded = ((uint64_t)*value << 1) ^ (*value < 0 ? UINT64_MAX : 0);
    U64(folded);
    *value = (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
}

void pm_code_raw(struct pm_codec *codec, void *data, size_t n_bytes) {
    if (codec->reading)
        pm_take_into(&codec->in, data, n_bytes);
    else
        put(codec, data, n_bytes);
}

void pm_code_double(struct pm_codec *codec, double *value) {
    pm_code_raw(codec, value, sizeof *value);
}

void pm_code_text(struct pm_codec *codec, char **text) {
    uint64_t length = !codec->reading && *text ? strlen(*text) + 1 : 0;
    U64(length);
    MUST(length == 0 || length - 1 <= pm_bytes_left(&codec->in));
    if (length == 0 || codec->in.fault)
        return;
    if (codec->reading)
        *text = pm_alloc(length, 1);
    pm_code_raw(codec, *text, length - 1);
    MUST(strlen(*text) == length - 1);
}

size_t pm_code_length(struct pm_codec *codec, size_t n, size_t least) {
    n = pm_code_number(codec, n, UINT64_MAX);
    MUST(n <= pm_bytes_left(&codec->in) / least);
    return codec->in.fault ? 0 : n;
}

void *pm_code_array(struct pm_codec *codec, void *array, size_t *n, size_t size, size_t least) {
    *n = pm_code_length(codec, *n, least);
    return codec->reading ? pm_alloc(*n, size) : array;
}
