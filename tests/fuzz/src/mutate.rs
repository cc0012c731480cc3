//! Blind mutations of known inputs.

/// Bytes that parsers care about.
const SPECIAL: &[u8] = b"\0\n\r\t \"'`{}[]:,-_/\\|#*<>&%$\x1b\x7f\x80\xff019AaZz";

/// Makes inputs from known ones, the same for the same seed.
#[derive(Debug)]
pub struct Mutator {
    state: u64,
    words: &'static [&'static str],
}

impl Mutator {
    pub fn new(seed: u64, words: &'static [&'static str]) -> Self {
        Self { state: seed, words }
    }
    /// `SplitMix64`.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.random() % (end.max(1) as u64)).unwrap_or(0)
    }
    /// The next input.
    pub fn next(&mut self, known: &[Vec<u8>]) -> Vec<u8> {
        let mut input = known.get(self.below(known.len())).cloned().unwrap_or_default();
        for _ in 0..=self.below(6) {
            self.change(&mut input, known);
        }
        input.truncate(1 << 16);
        input
    }
    fn change(&mut self, input: &mut Vec<u8>, known: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let until = (at + self.below(64)).min(input.len());
        match self.below(9) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << (self.random() % 8);
                }
            }
            1 => {
                let byte = SPECIAL[self.below(SPECIAL.len())];
                input.insert(at, byte);
            }
            2 => input.truncate(at),
            3 => drop(input.drain(at..until)),
            4 => {
                let piece = input[at..until].to_vec();
                let again = 1 + self.below(40);
                for _ in 0..again {
                    input.splice(at..at, piece.iter().copied());
                }
            }
            5 => {
                let other = known.get(self.below(known.len())).cloned().unwrap_or_default();
                let from = self.below(other.len() + 1);
                let to = (from + self.below(256)).min(other.len());
                input.splice(at..until, other[from..to].iter().copied());
            }
            6 | 7 => {
                if let Some(word) = self.words.get(self.below(self.words.len())) {
                    input.splice(at..at, word.bytes());
                }
            }
            _ => {
                // A number that is somewhere else.
                let number = [0, 1, 127, 255, 65_536, u64::MAX, 1 << 53][self.below(7)];
                input.splice(at..until, number.to_string().into_bytes());
            }
        }
    }
}
