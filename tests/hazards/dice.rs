//! Chance that can be had again, and how many rounds are asked for.

use std::io::Write as _;

/// A small generator of random numbers (`SplitMix64`).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(sides).unwrap()).unwrap()
    }
    pub(crate) fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())]
    }
}

/// The number that a variable of the environment has: what is no number was meant as another one.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// A game of a seed: one of some parts of all the rounds that are asked for, and else of `usual` rounds.
pub(crate) fn game(part: u64, parts: u64, usual: u64) -> (u64, usize) {
    let seed = number("RUN_LOOP_TEST_SEED").unwrap_or(0) * parts + part;
    let rounds = number("RUN_LOOP_TEST_ROUNDS").map_or(usual, |all| all.div_ceil(parts));
    std::io::stderr()
        .write_all(format!("seed {seed}, {rounds} rounds\n").as_bytes())
        .unwrap();
    (seed, usize::try_from(rounds).unwrap())
}
