// A class of C++ that counts its references, as Swift knows it.
class Texture;
void retain_texture(Texture *);
void release_texture(Texture *);

class __attribute__((swift_attr("import_reference")))
__attribute__((swift_attr("retain:retain_texture")))
__attribute__((swift_attr("release:release_texture"))) Texture {
public:
    int references = 1;
    __attribute__((swift_attr("returns_retained"))) static Texture *_Nonnull make() {
        return new Texture;
    }
};

inline void retain_texture(Texture *texture) {
    texture->references++;
}

inline void release_texture(Texture *texture) {
    if (--texture->references == 0)
        delete texture;
}
