//! Runs that were being made when their engines were killed: no event was ever in them.

use std::io;

use crate::cleanup::folders::state_at;
use crate::cleanup::item::{Item, What};
use crate::cleanup::known::Known;
use crate::cleanup::standing::lives;
use crate::store::journal::begin::Draft;

/// Removes those whose engines are dead. One that is being made is passed over.
pub(crate) fn clean(known: &Known, dry_run: bool, items: &mut Vec<Item>) {
    for state in known.states() {
        match Draft::all(state) {
            Ok(drafts) => items.extend(drafts.iter().filter_map(|draft| one(draft, dry_run))),
            Err(error) => {
                let runs = state.path().join("runs");
                items.push(Item::new(&runs, What::State, None, 0).kept(error.to_string()));
            }
        }
    }
}

fn one(draft: &Draft, dry_run: bool) -> Option<Item> {
    let kept = |why: String| Some(state_at(draft.path(), None, true).kept(why));
    // Of another machine's engine its lock says nothing here.
    match draft.engine().map(|engine| engine.as_ref().and_then(lives)) {
        Ok(None) => {}
        Ok(Some(why)) => return kept(why),
        Err(error) => return kept(error.to_string()),
    }
    let free = if dry_run {
        draft
            .is_being_made()
            .map(|is_made| (!is_made).then_some(None))
    } else {
        draft.hold_off().map(|held| held.map(Some))
    };
    match free {
        Ok(Some(_held)) => Some(state_at(draft.path(), None, dry_run)),
        Ok(None) => None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => kept(error.to_string()),
    }
}
