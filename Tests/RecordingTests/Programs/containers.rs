// Containers of the standard library, kept and recognisable by their sizes.
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

pub struct Node {
    pub next: Option<Box<Node>>,
    pub values: [u64; 5],
}

pub struct Point {
    pub x: u64,
    pub y: u64,
}

trait Shape {
    fn area(&self) -> f64;
}

struct Circle([f64; 9]);

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.0[0]
    }
}

#[inline(never)]
fn boxes() -> Vec<Box<Node>> {
    let mut all = Vec::new();
    for i in 0..3 {
        all.push(Box::new(Node { next: None, values: [i; 5] }));
    }
    all
}

#[inline(never)]
fn shared() -> (Rc<Point>, Arc<Point>) {
    (Rc::new(Point { x: 1, y: 2 }), Arc::new(Point { x: 1, y: 2 }))
}

#[inline(never)]
fn numbers() -> Vec<u16> {
    let mut all = Vec::with_capacity(10);
    for i in 0..1000u16 {
        all.push(i);
    }
    all
}

#[inline(never)]
fn maps() -> (HashMap<u32, Point>, BTreeMap<u32, Point>) {
    let (mut table, mut tree) = (HashMap::new(), BTreeMap::new());
    for i in 0..20 {
        table.insert(i, Point { x: 1, y: 2 });
        tree.insert(i, Point { x: 1, y: 2 });
    }
    (table, tree)
}

#[inline(never)]
fn text() -> String {
    let mut all = String::new();
    for _ in 0..100 {
        all.push_str("some text of twenty ");
    }
    all
}

#[inline(never)]
fn queue() -> VecDeque<Point> {
    let mut all = VecDeque::new();
    for i in 0..9 {
        all.push_back(Point { x: i, y: i });
    }
    all
}

#[inline(never)]
fn shapes() -> Box<dyn Shape> {
    Box::new(Circle([1.0; 9]))
}

fn main() {
    let all = (boxes(), shared(), numbers(), maps(), text(), queue(), shapes());
    std::mem::forget(all);
}
