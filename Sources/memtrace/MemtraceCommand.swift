@main struct M { static func main() { print("x") } }
