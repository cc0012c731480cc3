//! Review stores: broken ones, and those beyond the budget, least recently used first.

use std::io;

use crate::cleanup::item::{Item, What};
use crate::cleanup::known::Known;
use crate::cleanup::{IF_GONE, Request};
use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::summary::Summary;
use crate::git::store::upkeep::{Kind, StoreFolder, Upkeep};
use crate::store::{Entry, Journal, put_away};

/// Removes what nobody uses and nobody can need, or says what would be.
pub(crate) fn clean(
    request: &Request<'_>,
    known: &Known,
    items: &mut Vec<Item>,
) -> Result<(), Failure> {
    let Some(upkeep) = Upkeep::open(request.cache_root)? else {
        return Ok(());
    };
    let failed = |error: io::Error| crate::store::state_folder::unwritable(upkeep.path(), &error);
    let stores = upkeep.list().map_err(failed)?;
    let (mut ready, broken): (Vec<_>, Vec<_>) = stores
        .into_iter()
        .partition(|store| store.kind == Kind::Ready);
    let shared = upkeep.is_shared().map_err(failed)?;
    let item = |store: &StoreFolder, what| {
        Item::new(&upkeep.path().join(&store.name), what, None, store.bytes)
    };
    let shared_reason = "on this file system a lock may not reach other machines";
    for store in &broken {
        let item = item(store, What::BrokenStore);
        items.push(if shared {
            item.kept(shared_reason)
        } else {
            remove(request, &upkeep, store, item)
        });
    }
    let mut sum: u64 = ready.iter().map(|store| store.bytes).sum();
    // What was never seen in use counts as the oldest.
    ready.sort_by_key(|store| store.last_used);
    for store in &ready {
        let gone = request.gone && store.gone;
        if sum <= request.store_budget && !gone {
            continue;
        }
        let item = item(store, What::Store);
        if shared {
            items.push(item.kept(shared_reason));
            continue;
        }
        if let Some(why) = needed(store, known).filter(|_| !gone) {
            items.push(item.kept(why));
            continue;
        }
        let item = remove(request, &upkeep, store, item);
        if matches!(
            item.fate,
            crate::cleanup::item::Fate::Removed | crate::cleanup::item::Fate::WouldRemove
        ) {
            sum = sum.saturating_sub(store.bytes);
        }
        items.push(item);
    }
    Ok(())
}

fn remove(request: &Request<'_>, upkeep: &Upkeep, store: &StoreFolder, item: Item) -> Item {
    let held = match store.kind {
        Kind::Ready | Kind::Damaged => upkeep.hold(store),
        Kind::Unfinished => upkeep.hold_making(),
    };
    match held {
        Ok(None) => item.kept("a run uses it"),
        Err(failure) => item.kept(failure.message),
        Ok(Some(_)) if request.dry_run => item,
        Ok(Some(held)) => item.removed(upkeep.remove(store, &held)),
    }
}

/// Why a store is kept though it is beyond the budget: the snapshots of a run that can be resumed
/// exist nowhere else.
fn needed(store: &StoreFolder, known: &Known) -> Option<String> {
    let Some(common_dir) = &store.common_dir else {
        return Some(format!(
            "its repository is not there, so its runs are unknown; {IF_GONE}"
        ));
    };
    let (state, runs) = known.of_repository(common_dir)?;
    let is_end = |entry: &Entry| matches!(entry.event, Event::RunEnded { .. });
    match put_away::all(state).as_deref() {
        Ok([]) => {}
        Ok([run, ..]) => {
            let place = state.damaged_path(*run);
            return Some(format!(
                "what run {run} had may lie here alone, whose damaged record was put away ({})",
                place.display()
            ));
        }
        Err(failure) => return Some(failure.message.clone()),
    }
    runs.iter()
        .find_map(|run| match Journal::load(state, *run) {
            Ok(entries) if entries.iter().any(is_end) => {
                let events = entries.iter().map(|entry| (entry.at, &entry.event));
                Summary::of(events).kept_in_store().map(|command| {
                    format!(
                        "jobs of run {run} took uncommitted edits away, which this may hold alone: {command}"
                    )
                })
            }
            Ok(_) => Some(format!("run {run} can be resumed and needs it")),
            Err(_) if Journal::never_began(state, *run) => None,
            Err(_) => Some(format!("run {run} cannot be read")),
        })
}
