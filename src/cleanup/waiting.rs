//! Review trees that wait for a later run: nobody needs them.

use crate::cleanup::Request;
use crate::cleanup::item::{Item, What};
use crate::domain::failure::Failure;
use crate::git::review_tree::Waiting;

/// Removes them, or says what would be.
pub(crate) fn clean(request: &Request<'_>, items: &mut Vec<Item>) -> Result<(), Failure> {
    let pool = request.cache_root.join("pool");
    let all = Waiting::all(request.cache_root)
        .map_err(|error| crate::store::state_folder::unwritable(&pool, &error))?;
    for waiting in all {
        let item = Item::new(waiting.path(), What::WaitingTrees, None, waiting.bytes());
        items.push(if request.dry_run {
            item
        } else {
            item.removed(waiting.remove())
        });
    }
    Ok(())
}
