int mt_placeholder(void);
