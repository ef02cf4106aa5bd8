// Objects of classes of its own, of which some are leaked; needs gobject-2.0.
#include <glib-object.h>
#include <stdio.h>

// One without private data, one with: its instances lie behind that in their blocks.
typedef struct {
    GObject parent;
    void *other;
} SamplePlain;
typedef struct {
    GObjectClass parent;
} SamplePlainClass;
G_DEFINE_TYPE(SamplePlain, sample_plain, G_TYPE_OBJECT)

typedef struct {
    GObject parent;
    void *other;
} SamplePrivate;
typedef struct {
    GObjectClass parent;
} SamplePrivateClass;
typedef struct {
    void *held;
    long numbers[5];
} SamplePrivatePrivate;
G_DEFINE_TYPE_WITH_PRIVATE(SamplePrivate, sample_private, G_TYPE_OBJECT)

static void sample_plain_class_init(SamplePlainClass *class) {}
static void sample_plain_init(SamplePlain *self) {}
static void sample_private_class_init(SamplePrivateClass *class) {}
static void sample_private_init(SamplePrivate *self) {}

// Derived from none, as most classes of Vala are.
typedef struct {
    GTypeInstance parent;
    void *other;
    long numbers[3];
} SampleBase;
typedef struct {
    GTypeClass parent;
} SampleBaseClass;

static GType sample_base_get_type(void) {
    static GType type;
    if (type == 0) {
        GTypeInfo info = {.class_size = sizeof(SampleBaseClass),
                          .instance_size = sizeof(SampleBase)};
        GTypeFundamentalInfo flags = {G_TYPE_FLAG_CLASSED | G_TYPE_FLAG_INSTANTIATABLE |
                                      G_TYPE_FLAG_DERIVABLE | G_TYPE_FLAG_DEEP_DERIVABLE};
        type =
            g_type_register_fundamental(g_type_fundamental_next(), "SampleBase", &info, &flags, 0);
    }
    return type;
}

static void *kept_plain, *kept_private;

static void keep(void) {
    SamplePrivate *outer = kept_private = g_object_new(sample_private_get_type(), NULL);
    outer->other = g_object_new(sample_private_get_type(), NULL);
    SamplePrivatePrivate *more = sample_private_get_instance_private(outer);
    more->held = g_object_new(sample_plain_get_type(), NULL);
    kept_plain = g_object_new(sample_plain_get_type(), NULL);
}

static void leak(void) {
    for (int i = 0; i < 3; i++)
        g_object_new(sample_plain_get_type(), NULL);
    SamplePrivate *outer = g_object_new(sample_private_get_type(), NULL);
    outer->other = g_object_new(sample_private_get_type(), NULL);
    g_object_new(G_TYPE_OBJECT, NULL);
    SampleBase *base = (SampleBase *)g_type_create_instance(sample_base_get_type());
    base->other = g_type_create_instance(sample_base_get_type());
}

// Overwrites what is left on the stack.
static void clear(void) {
    volatile char bytes[1 << 14];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
}

int main(void) {
    keep();
    leak();
    clear();
    puts("made");
    return 0;
}
