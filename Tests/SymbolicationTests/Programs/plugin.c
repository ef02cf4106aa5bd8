/* A shared object that is loaded and unloaded by loader.c. */
int plugin_function(int value) {
    return value * 3;
}
