// A generic function and a trait method, not inlined.
struct Node {
    value: u64,
}

trait Double {
    fn double(&self) -> u64;
}

impl Double for Node {
    #[inline(never)]
    fn double(&self) -> u64 {
        self.value * 2
    }
}

#[inline(never)]
fn make(value: u64) -> Box<Node> {
    Box::new(Node { value })
}

fn main() {
    std::process::exit((make(21).double() - 42) as i32);
}
