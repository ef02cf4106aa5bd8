// Leaks trees and wheels whose members know each other by `Weak`, a list, a cycle, and what knows itself.
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Mutex;

mod app {
    use super::*;

    #[repr(C)]
    pub struct Node {
        pub name: (u64, Box<[u64; 3]>),
        pub parent: RefCell<Weak<Node>>,
        pub children: RefCell<Vec<Rc<Node>>>,
    }

    #[repr(C)]
    pub struct Wheel {
        pub spokes: RefCell<Vec<Option<Weak<Wheel>>>>,
        pub hub: RefCell<Option<Rc<Wheel>>>,
    }

    #[repr(C)]
    pub struct Item {
        pub id: u64,
        pub next: Option<Box<Item>>,
        pub shape: Shape,
    }

    pub enum Shape {
        Named(Box<u32>),
        Placed { at: Box<u32> },
    }

    #[repr(C)]
    pub struct Ring {
        pub id: u64,
        pub other: RefCell<Option<Rc<Ring>>>,
    }

    #[repr(C)]
    pub struct Own {
        pub call: RefCell<Option<Box<dyn Fn() -> u64>>>,
        pub me: RefCell<Option<Rc<Own>>>,
    }

    #[repr(C)]
    pub struct Inner {
        pub me: Option<Rc<RefCell<Inner>>>,
    }

    #[repr(C)]
    pub struct Branch {
        pub parent: Weak<RefCell<Branch>>,
        pub child: Option<Rc<RefCell<Branch>>>,
    }

    #[repr(C)]
    pub struct Known {
        pub id: u64,
        pub me: RefCell<Weak<Known>>,
    }
}
use app::*;

#[inline(never)]
fn node() -> Rc<Node> {
    let (parent, children) = (RefCell::new(Weak::new()), RefCell::new(vec![]));
    Rc::new(Node { name: (1, Box::new([1; 3])), parent, children })
}

#[inline(never)]
fn leak_tree() {
    let root = node();
    for _ in 0..2 {
        let child = node();
        *child.parent.borrow_mut() = Rc::downgrade(&root);
        root.children.borrow_mut().push(child);
    }
    std::mem::forget(root);
}

#[inline(never)]
fn wheel(hub: Option<Rc<Wheel>>) -> Rc<Wheel> {
    Rc::new(Wheel { spokes: RefCell::new(vec![]), hub: RefCell::new(hub) })
}

#[inline(never)]
fn leak_wheel() {
    let hub = wheel(None);
    let spoke = wheel(Some(hub.clone()));
    hub.spokes.borrow_mut().push(Some(Rc::downgrade(&spoke)));
    std::mem::forget(spoke);
}

#[inline(never)]
fn item(id: u64, next: Option<Box<Item>>) -> Box<Item> {
    let value = Box::new(id as u32);
    let shape = if id > 0 { Shape::Named(value) } else { Shape::Placed { at: value } };
    Box::new(Item { id, next, shape })
}

#[inline(never)]
fn leak_list() {
    std::mem::forget(item(2, Some(item(1, None))));
}

#[inline(never)]
fn ring(id: u64, other: Option<Rc<Ring>>) -> Rc<Ring> {
    Rc::new(Ring { id, other: RefCell::new(other) })
}

#[inline(never)]
fn leak_ring() {
    let first = ring(1, None);
    *first.other.borrow_mut() = Some(ring(2, Some(first.clone())));
}

#[inline(never)]
fn leak_own() {
    let number = 7u64;
    let call: Box<dyn Fn() -> u64> = Box::new(move || number);
    let own = Rc::new(Own { call: RefCell::new(Some(call)), me: RefCell::new(None) });
    *own.me.borrow_mut() = Some(own.clone());
}

#[inline(never)]
fn leak_inner() {
    let inner = Rc::new(RefCell::new(Inner { me: None }));
    inner.borrow_mut().me = Some(inner.clone());
}

#[inline(never)]
fn branch(parent: Weak<RefCell<Branch>>) -> Rc<RefCell<Branch>> {
    Rc::new(RefCell::new(Branch { parent, child: None }))
}

#[inline(never)]
fn leak_branch() {
    let root = branch(Weak::new());
    root.borrow_mut().child = Some(branch(Rc::downgrade(&root)));
    std::mem::forget(root);
}

#[inline(never)]
fn leak_known() {
    let known = Rc::new(Known { id: 1, me: RefCell::new(Weak::new()) });
    *known.me.borrow_mut() = Rc::downgrade(&known);
    std::mem::forget(known);
}

static TAKEN: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Takes the memory that the start of the program has given back: words that it has left on the stack may still
/// point there, and would hold what comes to lie in it.
#[inline(never)]
fn take_what_was_freed() {
    let blocks = (0..1024).map(|number| Vec::with_capacity(16 + number % 64 * 16));
    *TAKEN.lock().unwrap() = blocks.collect();
}

#[inline(never)]
fn clear_stack(number: usize) -> usize {
    [number; 512].iter().sum()
}

fn main() {
    take_what_was_freed();
    leak_tree();
    leak_wheel();
    leak_list();
    leak_ring();
    leak_own();
    leak_inner();
    leak_known();
    leak_branch();
    std::process::exit((clear_stack(std::env::args().count()) == 0) as i32);
}
