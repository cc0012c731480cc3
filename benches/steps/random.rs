//! Numbers that are the same in every run: splitmix64.

/// A seeded source of numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Numbers that depend on this seed alone.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("it is below a usize")
    }
    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        // 32 bits: what an f64 holds exactly.
        let bits = u32::try_from(self.next() >> 32).unwrap_or(u32::MAX);
        f64::from(bits) / f64::from(u32::MAX)
    }
    /// From a normal distribution around 0 with a deviation of 1.
    pub fn normal(&mut self) -> f64 {
        // The sum of twelve uniform numbers is near enough for the sizes of files.
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
    /// Different numbers below `limit`, in a random order.
    pub fn choose(&mut self, count: usize, limit: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..limit).collect();
        for at in 0..count {
            let other = at + self.below(limit - at);
            all.swap(at, other);
        }
        all.truncate(count);
        all
    }
}
