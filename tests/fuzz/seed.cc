// A library that throws and catches: seeds with exception tables.
int thrower(int kind) {
    if (kind > 3)
        throw kind;
    return kind;
}

int catcher(int kind) {
    try {
        return thrower(kind);
    } catch (int caught) {
        return -caught;
    }
}
