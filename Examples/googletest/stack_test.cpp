#include "memtrace_listener.h"

struct Node {
    int value;
    Node *below;
};

// A stack that forgets its nodes when it is cleared.
class Stack {
    Node *top = nullptr;

  public:
    void push(int value) {
        top = new Node{value, top};
    }
    int pop() {
        Node *node = top;
        int value = node->value;
        top = node->below;
        delete node;
        return value;
    }
    void clear() {
        top = nullptr;
    }
    bool empty() const {
        return top == nullptr;
    }
};

TEST(StackTest, TheLastNumberComesFirst) {
    Stack stack;
    stack.push(1);
    stack.push(2);
    EXPECT_EQ(stack.pop(), 2);
    EXPECT_EQ(stack.pop(), 1);
}

TEST(StackTest, AClearedStackIsEmpty) {
    Stack stack;
    for (int number = 0; number < 5; number++)
        stack.push(number);
    stack.clear();
    EXPECT_TRUE(stack.empty());
}

int main(int count, char **words) {
    testing::InitGoogleTest(&count, words);
    testing::UnitTest::GetInstance()->listeners().Append(new MemtraceListener);
    return RUN_ALL_TESTS();
}
