// Frees an array as a single block, which nobody sees who does not see the operators.
int main() {
    int *volatile numbers = new int[10];
    delete numbers;
}
