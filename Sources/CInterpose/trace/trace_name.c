/* Names traces. See trace_name.h. */
#include "trace/trace_name.h"

#include "base/executable_path.h"
#include "base/os.h"
#include "base/text.h"
#include <string.h>

#define EXTENSION ".mtrace"
/* What /proc adds to the name of a file that has been replaced. */
#define DELETED " (deleted)"

/* Buffers are static: there is one caller at a time, perhaps on a stack of 16 KiB. */

/* argv[0], or the file where the process was attached to: servers write what they are doing over
 * their arguments. */
static void read_program(const struct mt_config *config, char *text, size_t size) {
    size_t length = config->attached ? mt_executable_path(text, size) : 0;
    if (length == 0)
        mt_os_read_file("/proc/self/cmdline", text, size);
    else if (mt_text_has_suffix(text, DELETED))
        text[length - (sizeof DELETED - 1)] = 0;
}

/* The program as the user knows it: a last component. As it was when the recording began, also in
 * children. */
static const char *program_name(const struct mt_config *config) {
    static char text[PATH_MAX], name[64];
    if (*name)
        return name;
    read_program(config, text, sizeof text);
    const char *base = mt_text_last_component(text);
    /* A login shell's argv[0] begins with '-'. */
    while (*base == '-')
        base++;
    struct mt_text result = mt_text_begin(name, sizeof name);
    mt_text_add(&result, *base ? base : "process");
    for (char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == '%')
            *c = '_';
    return name;
}

static void add_template(struct mt_text *path, const struct mt_config *config) {
    const char *name = program_name(config), *template = config->output;
    if (*template == 0) {
        mt_text_add(path, name);
        mt_text_add(path, EXTENSION);
        return;
    }
    for (; *template; template ++) {
        if (template[0] == '%' && template[1] == 'p')
            mt_text_add_number(path, (uint64_t)mt_os_pid());
        else if (template[0] == '%' && template[1] == 'n')
            mt_text_add(path, name);
        else if (template[0] == '%' && template[1] == '%')
            mt_text_add(path, "%");
        else {
            mt_text_add_bytes(path, template, 1);
            continue;
        }
        template ++;
    }
}

bool mt_trace_name_root(struct mt_config *config) {
    static char buffer[PATH_MAX];
    struct mt_text path = mt_text_begin(buffer, sizeof buffer);
    if (config->output[0] != '/') {
        static char directory[PATH_MAX];
        if (mt_os_getcwd(directory, sizeof directory) <= 1 || directory[0] != '/')
            return false;
        mt_text_add(&path, directory);
        mt_text_add(&path, "/");
    }
    add_template(&path, config);
    if (path.cut)
        return false;
    memcpy(config->output, buffer, path.length + 1);
    return true;
}

/* How much of the file's own name there is room for before `.NAME.PID.NUMBER.mtrace`. */
static size_t stem_length(const char *output) {
    enum { LONGEST = NAME_MAX - 64 - 2 * 11 - (int)sizeof EXTENSION };
    size_t length = mt_text_length(output);
    size_t folder = (size_t)(mt_text_last_component(output) - output);
    if (mt_text_has_suffix(output, EXTENSION))
        length -= sizeof EXTENSION - 1;
    return length - folder > LONGEST ? folder + LONGEST : length;
}

bool mt_trace_name_try(const struct mt_config *config, bool skip_root, unsigned attempt,
                       char path[PATH_MAX]) {
    struct mt_text text = mt_text_begin(path, PATH_MAX);
    if (!skip_root && attempt == 0) {
        mt_text_add(&text, config->output);
        return !text.cut;
    }
    unsigned number = attempt + (skip_root ? 1 : 0);
    mt_text_add_bytes(&text, config->output, stem_length(config->output));
    mt_text_add(&text, ".");
    mt_text_add(&text, program_name(config));
    mt_text_add(&text, ".");
    mt_text_add_number(&text, (uint64_t)mt_os_pid());
    if (number > 1) {
        mt_text_add(&text, ".");
        mt_text_add_number(&text, number);
    }
    mt_text_add(&text, EXTENSION);
    return !text.cut;
}
