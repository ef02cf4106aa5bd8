int mt_placeholder(void);
int mt_placeholder(void) { return 0; }
