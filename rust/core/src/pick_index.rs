//! The best rows, group by group, kept as rows change.

use crate::pick::NEVER;
use crate::plugin::GroupId;
use crate::snapshot::Row;

const BLOCK: usize = 32;

/// The highest of some totals, and how many rows have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Best {
    pub total: i64,
    pub count: u32,
}

const NONE: Best = Best {
    total: NEVER,
    count: 0,
};

impl Best {
    fn or(self, other: Best) -> Best {
        match self.total.cmp(&other.total) {
            std::cmp::Ordering::Greater => self,
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Equal => Best {
                total: self.total,
                count: self.count + other.count,
            },
        }
    }

    fn with(self, total: i64) -> Best {
        if total == NEVER {
            return self;
        }
        self.or(Best { total, count: 1 })
    }
}

/// Totals per row and, for each group of rows and each block of consecutive rows, the best of the group
/// there, in one implicit tree of blocks per group: a changed total costs O(log rows), the best of a group
/// O(1), the n-th of equals O(log rows), whichever groups they are in.
#[derive(Clone, Debug, Default)]
pub struct PickIndex {
    totals: Vec<i64>,
    /// Per row; empty where there is one group only.
    of_row: Vec<GroupId>,
    /// Tree after tree; the root of each is at 1, its leaves are the blocks.
    nodes: Vec<Best>,
    leaves: usize,
}

impl PickIndex {
    /// Replaces everything; `of_row` is empty if all rows are in one group.
    pub fn rebuild(&mut self, totals: &[i64], of_row: &[GroupId], groups: usize) {
        self.totals.clear();
        self.totals.extend_from_slice(totals);
        self.of_row.clear();
        self.of_row.extend_from_slice(of_row);
        self.leaves = totals.len().div_ceil(BLOCK).next_power_of_two();
        self.nodes.clear();
        self.nodes.resize(groups * 2 * self.leaves, NONE);
        self.fill_leaves();
        for group in 0..groups {
            let tree = &mut self.nodes[group * 2 * self.leaves..][..2 * self.leaves];
            for i in (1..self.leaves).rev() {
                tree[i] = tree[2 * i].or(tree[2 * i + 1]);
            }
        }
    }

    fn fill_leaves(&mut self) {
        let width = 2 * self.leaves;
        if self.of_row.is_empty() {
            for (block, totals) in self.totals.chunks(BLOCK).enumerate() {
                self.nodes[self.leaves + block] = of_block(totals);
            }
            return;
        }
        for (row, (total, group)) in self.totals.iter().zip(&self.of_row).enumerate() {
            let leaf = &mut self.nodes[*group as usize * width + self.leaves + row / BLOCK];
            *leaf = leaf.with(*total);
        }
    }

    /// Makes room for groups that come up.
    pub fn ensure_groups(&mut self, groups: usize) {
        let len = groups * 2 * self.leaves;
        if self.nodes.len() < len {
            self.nodes.resize(len, NONE);
        }
    }

    pub fn totals(&self) -> &[i64] {
        &self.totals
    }

    pub fn groups(&self) -> usize {
        self.nodes.len() / (2 * self.leaves).max(1)
    }

    /// Bytes held, approximately.
    pub fn size(&self) -> usize {
        8 * self.totals.len() + 4 * self.of_row.len() + size_of::<Best>() * self.nodes.len()
    }

    fn group(&self, row: Row) -> GroupId {
        self.of_row.get(row as usize).copied().unwrap_or(0)
    }

    /// Changes the total of a row.
    pub fn set(&mut self, row: Row, total: i64) {
        let before = std::mem::replace(&mut self.totals[row as usize], total);
        if before != total {
            self.replace(self.group(row), row, before, total);
        }
    }

    /// Takes a row to another group.
    pub fn regroup(&mut self, row: Row, group: GroupId) {
        let total = std::mem::replace(&mut self.totals[row as usize], NEVER);
        if total != NEVER {
            self.replace(self.group(row), row, total, NEVER);
        }
        self.of_row[row as usize] = group;
        self.set(row, total);
    }

    /// Brings the tree of a group up to date after the total of a row went from `before` to `after`.
    fn replace(&mut self, group: GroupId, row: Row, before: i64, after: i64) {
        let block = row as usize / BLOCK;
        let start = group as usize * 2 * self.leaves;
        let mut i = self.leaves + block;
        let known = self.nodes[start + i];
        let best = if before == known.total && known.count == 1 {
            // The row alone had the best; its present total is among those that are looked at now.
            self.best_of_block(group, block)
        } else if before == known.total && known.count > 1 {
            let count = known.count - 1;
            Best { count, ..known }.with(after)
        } else {
            known.with(after)
        };
        if best == known {
            return;
        }
        self.nodes[start + i] = best;
        while i > 1 {
            i /= 2;
            let best = self.nodes[start + 2 * i].or(self.nodes[start + 2 * i + 1]);
            if self.nodes[start + i] == best {
                return;
            }
            self.nodes[start + i] = best;
        }
    }

    fn best_of_block(&self, group: GroupId, block: usize) -> Best {
        let end = self.totals.len().min((block + 1) * BLOCK);
        let range = block * BLOCK..end;
        if self.of_row.is_empty() {
            return of_block(&self.totals[range]);
        }
        let rows = self.totals[range.clone()].iter().zip(&self.of_row[range]);
        rows.filter(|(_, g)| **g == group)
            .fold(NONE, |best, (total, _)| best.with(*total))
    }

    /// The highest total within a group.
    pub fn best(&self, group: GroupId) -> Option<Best> {
        let root = self.nodes.get(group as usize * 2 * self.leaves + 1)?;
        (root.count > 0).then_some(*root)
    }

    /// The `rank`-th (from 0, by row) of the rows whose total is the best of one of these groups.
    pub fn nth_best(&self, groups: &[GroupId], mut rank: u64) -> Option<Row> {
        let count = |i: usize| -> u64 {
            let each = groups.iter().map(|group| {
                let start = *group as usize * 2 * self.leaves;
                let (root, node) = (self.nodes[start + 1], self.nodes[start + i]);
                if node.total == root.total {
                    u64::from(node.count)
                } else {
                    0
                }
            });
            each.sum()
        };
        if self.leaves == 0 || rank >= count(1) {
            return None;
        }
        let mut i = 1;
        while i < self.leaves {
            i *= 2;
            let left = count(i);
            if rank >= left {
                rank -= left;
                i += 1;
            }
        }
        let start = (i - self.leaves) * BLOCK;
        let end = self.totals.len().min(start + BLOCK);
        let is_best = |row: &usize| {
            let group = self.group(*row as Row);
            let best = groups.contains(&group).then(|| self.best(group)).flatten();
            best.is_some_and(|best| best.total == self.totals[*row])
        };
        let mut ties = (start..end).filter(is_best);
        ties.nth(rank as usize).map(|row| row as Row)
    }
}

fn of_block(totals: &[i64]) -> Best {
    let total = totals.iter().copied().max().unwrap_or(NEVER);
    if total == NEVER {
        return NONE;
    }
    let count = totals.iter().map(|t| u32::from(*t == total)).sum();
    Best { total, count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The best of a group, and the rows that are best in one of several groups, by a scan.
    fn scan(
        totals: &[i64],
        of_row: &[GroupId],
        groups: &[GroupId],
    ) -> (Vec<Option<i64>>, Vec<Row>) {
        let of = |row: usize| of_row.get(row).copied().unwrap_or(0);
        let best = |group: &GroupId| {
            let mine = (0..totals.len()).filter(|row| of(*row) == *group);
            mine.map(|row| totals[row]).filter(|t| *t != NEVER).max()
        };
        let bests: Vec<_> = groups.iter().map(best).collect();
        let is_best = |row: &usize| {
            let at = groups.iter().position(|g| *g == of(*row));
            at.is_some_and(|at| bests[at] == Some(totals[*row]))
        };
        let ties = (0..totals.len()).filter(is_best).map(|row| row as Row);
        (bests.clone(), ties.collect())
    }

    proptest! {
        #[test]
        fn index_equals_a_scan(
            start in proptest::collection::vec((0i64..3, 0u32..3), 1..300),
            changes in proptest::collection::vec((0usize..300, -1i64..4, 0u32..4), 0..80),
            grouped: bool,
        ) {
            let mut totals: Vec<i64> = start.iter().map(|(total, _)| *total).collect();
            let mut of_row: Vec<GroupId> = start.iter().map(|(_, group)| *group).collect();
            if !grouped {
                of_row.clear();
            }
            let mut index = PickIndex::default();
            index.rebuild(&totals, &of_row, if grouped { 3 } else { 1 });
            for (at, total, group) in changes {
                let row = at % totals.len();
                totals[row] = if total < 0 { NEVER } else { total };
                index.set(row as Row, totals[row]);
                if grouped {
                    index.ensure_groups(4);
                    index.regroup(row as Row, group);
                    of_row[row] = group;
                }
                let groups: &[GroupId] = if grouped { &[0, 2, 3] } else { &[0] };
                index.ensure_groups(if grouped { 4 } else { 1 });
                let (bests, ties) = scan(&totals, &of_row, groups);
                let found: Vec<_> = groups.iter().map(|g| index.best(*g).map(|b| b.total)).collect();
                prop_assert_eq!(found, bests);
                let picked = (0..ties.len() as u64 + 1).map_while(|k| index.nth_best(groups, k));
                prop_assert_eq!(picked.collect::<Vec<_>>(), ties);
            }
        }
    }
}
