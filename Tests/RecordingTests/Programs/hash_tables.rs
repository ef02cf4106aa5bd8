// Leaks maps in cycles, others that are in none, and keeps one in a variable.
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};

#[repr(C)]
pub struct Room {
    pub doors: RefCell<HashMap<String, Rc<Room>>>,
}

#[repr(C)]
pub struct Club {
    pub members: RefCell<HashSet<Member>>,
}

#[repr(C)]
pub struct Member {
    pub id: u64,
    pub club: Rc<Club>,
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
impl Eq for Member {}
impl Hash for Member {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state)
    }
}

#[repr(C)]
pub struct Shelf {
    pub others: RefCell<BTreeMap<u32, Rc<Shelf>>>,
}

#[repr(C)]
pub struct Office {
    pub desks: RefCell<HashMap<u64, Weak<Desk>>>,
}

#[repr(C)]
pub struct Desk {
    pub office: Rc<Office>,
}

pub trait Bell {
    fn ring(&self) -> u64;
}

#[repr(C)]
pub struct Small {
    pub times: Box<u64>,
}

impl Bell for Small {
    fn ring(&self) -> u64 {
        *self.times
    }
}

pub struct Alarm {
    pub text: String,
}
impl Wake for Alarm {
    fn wake(self: Arc<Self>) {}
}

static NAMES: Mutex<Option<HashMap<u64, String>>> = Mutex::new(None);
static ALARM: Mutex<Option<Waker>> = Mutex::new(None);
static TAKEN: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Takes the memory that the start of the program has given back: words that it has left on the stack may still
/// point there, and would hold what comes to lie in it.
#[inline(never)]
fn take_what_was_freed() {
    let blocks = (0..1024).map(|number| Vec::with_capacity(16 + number % 64 * 16));
    *TAKEN.lock().unwrap() = blocks.collect();
}

#[inline(never)]
fn leak_room() {
    let room = Rc::new(Room { doors: RefCell::new(HashMap::new()) });
    room.doors.borrow_mut().insert("north".to_string(), room.clone());
}

#[inline(never)]
fn leak_club() {
    let club = Rc::new(Club { members: RefCell::new(HashSet::new()) });
    for id in 0..3 {
        club.members.borrow_mut().insert(Member { id, club: club.clone() });
    }
}

#[inline(never)]
fn leak_shelf() {
    let shelf = Rc::new(Shelf { others: RefCell::new(BTreeMap::new()) });
    shelf.others.borrow_mut().insert(1, shelf.clone());
}

#[inline(never)]
fn leak_desk() {
    let office = Rc::new(Office { desks: RefCell::new(HashMap::new()) });
    let desk = Rc::new(Desk { office: office.clone() });
    office.desks.borrow_mut().insert(1, Rc::downgrade(&desk));
    std::mem::forget(desk);
}

#[inline(never)]
fn leak_pairs() {
    let pairs = vec![(1u64, "one".to_string()), (2u64, "two".to_string())];
    std::mem::forget(std::hint::black_box(pairs));
}

#[inline(never)]
fn leak_bells() {
    let mut bells: Vec<Box<dyn Bell>> = Vec::new();
    bells.push(Box::new(Small { times: Box::new(7) }));
    std::mem::forget(std::hint::black_box(bells));
}

#[inline(never)]
fn keep() {
    *NAMES.lock().unwrap() = Some((0..100).map(|number| (number, number.to_string())).collect());
    let alarm = Arc::new(Alarm { text: "wake up".to_string() });
    *ALARM.lock().unwrap() = Some(alarm.into());
}

#[inline(never)]
fn clear_stack(number: usize) -> usize {
    [number; 512].iter().sum()
}

fn main() {
    take_what_was_freed();
    leak_room();
    leak_club();
    leak_shelf();
    leak_desk();
    leak_pairs();
    leak_bells();
    keep();
    std::process::exit((clear_stack(std::env::args().count()) == 0) as i32);
}
