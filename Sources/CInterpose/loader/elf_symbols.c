/* Reads symbol tables. See elf_symbols.h. */
#define _GNU_SOURCE
#include "loader/elf_symbols.h"

#include "base/text.h"
#include <fcntl.h>
#include <string.h>

/* Nothing that a sane file exceeds. */
#define LARGEST_TABLE (UINT64_C(1) << 30)

enum { MOST_PROGRAM_HEADERS = 64 };

struct mt_loaded_image mt_loaded_image_of(const struct dl_phdr_info *info) {
    return (struct mt_loaded_image){.bias = info->dlpi_addr,
                                    .program_headers = info->dlpi_phdr,
                                    .program_header_count = info->dlpi_phnum,
                                    .path = info->dlpi_name ? info->dlpi_name : "",
                                    .tls_module = info->dlpi_tls_modid};
}

static bool read_at(int fd, void *buffer, size_t size, uint64_t offset) {
    for (size_t done = 0; done < size;) {
        long count = mt_os_pread(fd, (uint8_t *)buffer + done, size - done, offset + done);
        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

/* Reads, not maps: a file that becomes shorter would be SIGBUS. Ends with a 0 byte.
 * returns  NULL when it cannot be read */
static void *read_table(int fd, uint64_t offset, uint64_t size) {
    if (size == 0 || size > LARGEST_TABLE)
        return NULL;
    void *table = mt_os_map_pages(size + 1);
    if (table && !read_at(fd, table, size, offset)) {
        mt_os_unmap_pages(table, size + 1);
        return NULL;
    }
    return table;
}

static void give_back(const void *table, uint64_t size) {
    if (table)
        mt_os_unmap_pages((void *)(uintptr_t)table, size + 1);
}

/* An upgrade may have put another file in the place of the one that runs. */
static bool is_file_of(int fd, const ElfW(Ehdr) * header, const struct mt_loaded_image *image) {
    ElfW(Phdr) headers[MOST_PROGRAM_HEADERS];
    uint16_t count = image->program_header_count;
    return header->e_phnum == count && count <= MOST_PROGRAM_HEADERS &&
           read_at(fd, headers, count * sizeof *headers, header->e_phoff) &&
           memcmp(headers, image->program_headers, count * sizeof *headers) == 0;
}

static bool read_sections(struct mt_elf_file *file, const ElfW(Ehdr) * header) {
    if (header->e_shentsize != sizeof(ElfW(Shdr)) || header->e_shstrndx >= header->e_shnum)
        return false;
    file->section_count = header->e_shnum;
    file->sections_size = header->e_shnum * sizeof(ElfW(Shdr));
    file->sections = read_table(file->fd, header->e_shoff, file->sections_size);
    if (!file->sections)
        return false;
    const ElfW(Shdr) *names = &file->sections[header->e_shstrndx];
    file->names_size = names->sh_size;
    file->section_names = read_table(file->fd, names->sh_offset, names->sh_size);
    return file->section_names != NULL;
}

bool mt_elf_open(struct mt_elf_file *file, const struct mt_loaded_image *image) {
    ElfW(Ehdr) header;
    *file = (struct mt_elf_file){.fd = -1};
    long fd = image->path[0] == '/' ? mt_os_open_regular(MT_AT_CWD, image->path) : -1;
    if (fd < 0)
        return false;
    file->fd = (int)fd;
    if (read_at(file->fd, &header, sizeof header, 0) &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && is_file_of(file->fd, &header, image) &&
        read_sections(file, &header))
        return true;
    mt_elf_close(file);
    return false;
}

void mt_elf_close(struct mt_elf_file *file) {
    give_back(file->sections, file->sections_size);
    give_back(file->section_names, file->names_size);
    mt_os_close(file->fd);
}

const uint8_t *mt_elf_read_section(const struct mt_elf_file *file, const char *name, uint64_t most,
                                   uint64_t *size) {
    for (uint32_t i = 0; i < file->section_count; i++) {
        const ElfW(Shdr) *section = &file->sections[i];
        if (section->sh_name >= file->names_size ||
            !mt_text_equal(file->section_names + section->sh_name, name))
            continue;
        *size = section->sh_size;
        bool is_plain = section->sh_type == SHT_PROGBITS && !(section->sh_flags & SHF_COMPRESSED);
        return is_plain && *size <= most ? read_table(file->fd, section->sh_offset, *size) : NULL;
    }
    return NULL;
}

void mt_elf_give_back(const uint8_t *section, uint64_t size) {
    give_back(section, size);
}

bool mt_elf_has_section(const struct mt_elf_file *file, const char *prefix) {
    for (uint32_t i = 0; i < file->section_count; i++) {
        uint32_t name = file->sections[i].sh_name;
        if (name < file->names_size && mt_text_has_prefix(file->section_names + name, prefix))
            return true;
    }
    return false;
}

/* One symbol table with its names. */
struct table {
    const ElfW(Sym) * symbols;
    uint64_t count, size;
    const char *names;
    uint64_t names_size;
};

static bool read_symbols(const struct mt_elf_file *file, const ElfW(Shdr) * section,
                         struct table *table) {
    if (section->sh_link >= file->section_count)
        return false;
    const ElfW(Shdr) *names = &file->sections[section->sh_link];
    table->size = section->sh_size;
    table->count = section->sh_size / sizeof(ElfW(Sym));
    table->names_size = names->sh_size;
    table->symbols = read_table(file->fd, section->sh_offset, section->sh_size);
    table->names = read_table(file->fd, names->sh_offset, names->sh_size);
    return table->symbols && table->names;
}

static void consider(const ElfW(Sym) * symbol, const char *name,
                     const struct mt_loaded_image *image, struct mt_wanted_symbol *symbols,
                     uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!symbols[i].address && mt_text_equal(name, symbols[i].name)) {
            symbols[i].address = image->bias + symbol->st_value;
            symbols[i].size = symbol->st_size;
        }
}

static bool search(const struct table *table, const struct mt_loaded_image *image,
                   struct mt_wanted_symbol *symbols, uint32_t count, const char *import) {
    bool is_imported = false;
    for (uint64_t i = 0; i < table->count; i++) {
        const ElfW(Sym) *symbol = &table->symbols[i];
        if (symbol->st_name >= table->names_size)
            continue;
        const char *name = table->names + symbol->st_name;
        if (symbol->st_shndx != SHN_UNDEF)
            consider(symbol, name, image, symbols, count);
        else if (mt_text_has_prefix(name, import))
            is_imported = true;
    }
    return is_imported;
}

bool mt_elf_find_symbols(const struct mt_elf_file *file, uint32_t table_type,
                         const struct mt_loaded_image *image, struct mt_wanted_symbol *symbols,
                         uint32_t count, const char *import) {
    bool is_imported = false;
    for (uint32_t i = 0; i < file->section_count; i++) {
        struct table table = {0};
        if (file->sections[i].sh_type != table_type)
            continue;
        if (read_symbols(file, &file->sections[i], &table))
            is_imported |= search(&table, image, symbols, count, import);
        give_back(table.symbols, table.size);
        give_back(table.names, table.names_size);
    }
    return is_imported;
}
