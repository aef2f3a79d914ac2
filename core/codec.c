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

/* ---- writing --------------------------------------------------------------------------------- */

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

/* ---- unpacking piece by piece ---------------------------------------------------------------- */

enum { MOST_UNPACKED = 1 << 20, KEPT_PIECE = 4 << 20, LONGEST_NUMBER = 10 }; /* bytes */

struct pm_unpacking {
    ZSTD_DStream *stream;
    ZSTD_inBuffer packed;
    ZSTD_inBuffer *pieces;  /* of what is packed, whose bytes are owned, if a copy was taken … */
    size_t n_pieces, piece; /* … of which this one is `packed` */
    uint64_t rest;          /* bytes of the contents that are still packed */
    bool has_ended;         /* the frame has */
    size_t room;
    uint8_t window[]; /* what the codec reads from */
};

static struct pm_unpacking *unpacking_new(const void *packed, size_t n_packed, uint64_t n) {
    size_t room = n < MOST_UNPACKED ? n : MOST_UNPACKED;
    struct pm_unpacking *unpacking = pm_alloc(1, sizeof *unpacking + room);
    unpacking->stream = ZSTD_createDStream();
    unpacking->packed = (ZSTD_inBuffer){packed, n_packed, 0};
    unpacking->rest = n;
    unpacking->room = room;
    return unpacking;
}

static void free_piece(struct pm_unpacking *unpacking, size_t i) {
    free((void *)unpacking->pieces[i].src);
    unpacking->pieces[i].src = NULL;
}

static void unpacking_free(struct pm_unpacking *unpacking) {
    if (!unpacking)
        return;
    for (size_t i = 0; i < unpacking->n_pieces; i++)
        free_piece(unpacking, i);
    free(unpacking->pieces);
    ZSTD_freeDStream(unpacking->stream);
    free(unpacking);
}

/* The next piece in place of one that was unpacked. */
static void take_next_piece(struct pm_unpacking *unpacking) {
    while (unpacking->packed.pos == unpacking->packed.size &&
           unpacking->piece + 1 < unpacking->n_pieces) {
        free_piece(unpacking, unpacking->piece++);
        unpacking->packed = unpacking->pieces[unpacking->piece];
    }
}

/* Unpacks N bytes into TO; as many as there are. */
static size_t unpack(struct pm_unpacking *unpacking, uint8_t *to, size_t n) {
    ZSTD_outBuffer out = {to, n, 0};
    for (bool goes_on = unpacking->stream != NULL; goes_on && !unpacking->has_ended;) {
        take_next_piece(unpacking);
        size_t done = out.pos + unpacking->packed.pos;
        size_t left = ZSTD_decompressStream(unpacking->stream, &out, &unpacking->packed);
        unpacking->has_ended = left == 0;
        goes_on = !ZSTD_isError(left) && out.pos + unpacking->packed.pos > done;
    }
    return out.pos;
}

/* Has CODEC at least N bytes to read at once, or all that there are. */
static void refill(struct pm_codec *codec, size_t n) {
    struct pm_unpacking *unpacking = codec->unpacking;
    size_t left = pm_bytes_left(&codec->in);
    if (left >= n || unpacking->rest == 0 || codec->in.fault)
        return;
    memmove(unpacking->window, codec->in.at, left);
    size_t room = unpacking->room - left;
    size_t more = unpacking->rest < room ? unpacking->rest : room;
    bool all = unpack(unpacking, unpacking->window + left, more) == more;
    unpacking->rest -= more;
    codec->in = pm_reader_of(unpacking->window, left + more);
    if (!all)
        codec->in.fault = PM_READ_BAD;
}

/* Bytes that were not read yet. */
static uint64_t bytes_left(const struct pm_codec *codec) {
    return pm_bytes_left(&codec->in) + codec->unpacking->rest;
}

/* Was all read, and is that all of the frame, and the frame all of the bytes? */
static bool is_at_end(const struct pm_codec *codec) {
    struct pm_unpacking *unpacking = codec->unpacking;
    uint8_t none[1];
    return bytes_left(codec) == 0 && unpack(unpacking, none, 0) == 0 && unpacking->has_ended &&
           unpacking->packed.pos == unpacking->packed.size &&
           unpacking->piece + 1 >= unpacking->n_pieces;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool damaged(const struct pm_codec_kind *kind, struct pm_error *err) {
    return pm_fail(err, "%s damaged: %s", kind->what, kind->again);
}

bool pm_codec_open(struct pm_codec *codec, const struct pm_codec_kind *kind, const void *bytes,
                   size_t n_bytes, struct pm_error *err) {
    struct header header;
    const uint8_t *packed = (const uint8_t *)bytes + sizeof header;
    size_t n_packed = n_bytes - sizeof header;
    uint64_t stated;
    if (n_bytes >= sizeof header)
        memcpy(&header, bytes, sizeof header);
    if (n_bytes < sizeof header || memcmp(header.magic, kind->magic, sizeof header.magic) != 0)
        return damaged(kind, err);
    if (header.version != kind->version)
        return pm_fail(err, "%s of format %u, and this pmodel reads format %u: %s", kind->what,
                       header.version, kind->version, kind->again);
    if (header.content_bytes > MOST_CONTENT_BYTES || !pm_packed_size(packed, n_packed, &stated) ||
        stated != header.content_bytes ||
        header.checksum != XXH3_64bits_withSeed(packed, n_packed, header.content_bytes))
        return damaged(kind, err);
    *codec = (struct pm_codec){.reading = true,
                               .unpacking = unpacking_new(packed, n_packed, header.content_bytes)};
    codec->in = pm_reader_of(codec->unpacking->window, 0);
    return true;
}

void pm_codec_keep_rest(struct pm_codec *codec) {
    struct pm_unpacking *unpacking = codec->unpacking;
    const ZSTD_inBuffer whole = unpacking->packed;
    const size_t n = (whole.size - whole.pos + KEPT_PIECE - 1) / KEPT_PIECE;
    unpacking->pieces = pm_alloc(n, sizeof *unpacking->pieces);
    unpacking->n_pieces = n;
    for (size_t i = 0, at = whole.pos; i < n; at += unpacking->pieces[i++].size) {
        const size_t left = whole.size - at, size = left < KEPT_PIECE ? left : KEPT_PIECE;
        void *bytes = pm_alloc(size, 1);
        memcpy(bytes, (const char *)whole.src + at, size);
        unpacking->pieces[i] = (ZSTD_inBuffer){bytes, size, 0};
    }
    unpacking->packed = n ? unpacking->pieces[0] : (ZSTD_inBuffer){0};
}

bool pm_codec_close(struct pm_codec *codec, const struct pm_codec_kind *kind,
                    struct pm_error *err) {
    bool is_good = !codec->in.fault && is_at_end(codec);
    unpacking_free(codec->unpacking);
    return is_good || damaged(kind, err);
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
        refill(codec, LONGEST_NUMBER);
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
    if (!codec->reading) {
        put(codec, data, n_bytes);
        return;
    }
    uint8_t *to = data;
    for (size_t part; n_bytes > 0; n_bytes -= part, to += part) {
        part = n_bytes < MOST_UNPACKED ? n_bytes : MOST_UNPACKED;
        refill(codec, part);
        pm_take_into(&codec->in, to, part);
    }
}

void pm_code_double(struct pm_codec *codec, double *value) {
    pm_code_raw(codec, value, sizeof *value);
}

void pm_code_text(struct pm_codec *codec, char **text) {
    uint64_t length = !codec->reading && *text ? strlen(*text) + 1 : 0;
    U64(length);
    MUST(length == 0 || length - 1 <= bytes_left(codec));
    if (length == 0 || codec->in.fault)
        return;
    if (codec->reading)
        *text = pm_alloc(length, 1);
    pm_code_raw(codec, *text, length - 1);
    MUST(strlen(*text) == length - 1);
}

size_t pm_code_length(struct pm_codec *codec, size_t n, size_t least) {
    n = pm_code_number(codec, n, UINT64_MAX);
    MUST(n <= bytes_left(codec) / least);
    return codec->in.fault ? 0 : n;
}

void *pm_code_array(struct pm_codec *codec, void *array, size_t *n, size_t size, size_t least) {
    *n = pm_code_length(codec, *n, least);
    return codec->reading ? pm_alloc(*n, size) : array;
}
