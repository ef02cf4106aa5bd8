// The library that leaks.c loads: holds a block in a variable, one in a thread-local variable.
void *plugin_variable;
__thread void *plugin_local;

void plugin_hold(void *block) {
    plugin_variable = block;
}

void plugin_hold_local(void *block) {
    plugin_local = block;
}
