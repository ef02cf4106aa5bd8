/* Symbols of a loaded image, local ones too, out of its file. */
#ifndef MT_ELF_SYMBOLS_H
#define MT_ELF_SYMBOLS_H

#include "base/os.h"
#include <link.h>

/* An image as the loader describes it. */
struct mt_loaded_image {
    uintptr_t bias;
    const ElfW(Phdr) * program_headers;
    uint16_t program_header_count;
    const char *path;
    size_t tls_module; /* where its thread-local variables are in threads' vectors; 0: none */
};

struct dl_phdr_info;
/* info  what dl_iterate_phdr tells of an image; the path is the loader's, "" where it has none */
struct mt_loaded_image mt_loaded_image_of(const struct dl_phdr_info *info);

/* One that is looked for. */
struct mt_wanted_symbol {
    const char *name;
    uintptr_t address; /* in memory; 0: not defined in the image */
    size_t size;
};

/* A file and its section headers. */
struct mt_elf_file {
    int fd;
    const ElfW(Shdr) * sections;
    uint32_t section_count;
    const char *section_names;
    size_t names_size;
    size_t sections_size;
};

/* Opens the file of an image, if it still is the one that was loaded.
 * returns  false, with nothing to close, when it is not there, another one, or no ELF file with
 *          sections
 * context  cold; allocates pages of its own; async-signal-safe */
bool mt_elf_open(struct mt_elf_file *file, const struct mt_loaded_image *image);
void mt_elf_close(struct mt_elf_file *file);

/* A copy of the section of that name, as it is in the file.
 *
 * most     its bytes at most
 * returns  NULL where there is none of that size, or it is compressed; mt_elf_give_back() */
const uint8_t *mt_elf_read_section(const struct mt_elf_file *file, const char *name, uint64_t most,
                                   uint64_t *size);
void mt_elf_give_back(const uint8_t *section, uint64_t size);

bool mt_elf_has_section(const struct mt_elf_file *file, const char *prefix);

/* Fills in the symbols that a table of the type (SHT_DYNSYM, SHT_SYMTAB) defines and that have no
 * address yet.
 * returns  whether the table has a symbol that begins with `import` and is defined elsewhere */
bool mt_elf_find_symbols(const struct mt_elf_file *file, uint32_t table_type,
                         const struct mt_loaded_image *image, struct mt_wanted_symbol *symbols,
                         uint32_t count, const char *import);

#endif
