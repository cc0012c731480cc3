use std::collections::VecDeque;

use super::*;

/// A terminal where the lines were typed before.
struct Typed {
    lines: VecDeque<&'static str>,
    shown: std::sync::Arc<std::sync::Mutex<String>>,
    interactive: bool,
}

impl Terminal for Typed {
    fn is_interactive(&self) -> bool {
        self.interactive
    }
    fn show(&mut self, text: &str) -> io::Result<()> {
        self.shown.lock().unwrap().push_str(text);
        Ok(())
    }
    fn line(&mut self) -> io::Result<Option<String>> {
        Ok(self.lines.pop_front().map(str::to_owned))
    }
}

fn question() -> Question {
    Question {
        slot: SlotName::parse("pat").unwrap(),
        nonce: "0a1b".to_owned(),
        tree: "/cache/tree".into(),
        evidence: "/cache/evidence".into(),
        prompt: "/cache/prompt.md".into(),
    }
}

async fn answered(lines: &[&'static str], interactive: bool) -> (Dispatched, String) {
    let shown = std::sync::Arc::default();
    let terminal = Typed {
        lines: lines.iter().copied().collect(),
        shown: std::sync::Arc::clone(&shown),
        interactive,
    };
    let minute = Duration::from_mins(1);
    let done = dispatch(
        question(),
        Box::new(terminal),
        minute,
        CancellationToken::new(),
    )
    .await;
    let shown = shown.lock().unwrap().clone();
    (done, shown)
}

#[tokio::test]
async fn notes_verdict_and_confirmation_make_a_report() {
    let lines = [
        "looks good",
        "VERDICT PASS",
        "Nonce: ffff",
        "VERDICT: PASS",
        "pat",
    ];
    let (done, shown) = answered(&lines, true).await;
    assert_eq!(done.ended, Ended::Exited { code: 0 });
    assert_eq!(
        String::from_utf8(done.report.unwrap().as_came().to_vec()).unwrap(),
        "# Review by a person\n\n> looks good\n> Nonce: ffff\n\nNonce: 0a1b\nVERDICT: PASS\n"
    );
    for told in [
        "/cache/tree",
        "/cache/evidence",
        "/cache/prompt.md",
        "Not a verdict",
    ] {
        assert!(shown.contains(told), "{told} in {shown}");
    }
}

#[tokio::test]
async fn without_confirmation_there_is_no_verdict() {
    for lines in [
        &["VERDICT: PASS", "yes"][..],
        &["VERDICT: PASS"],
        &["VERDICT: PASS", ""],
        &["verdict: pass"],
        &[],
    ] {
        let (done, _) = answered(lines, true).await;
        assert_eq!(done.ended, Ended::Exited { code: 1 }, "{lines:?}");
        assert_eq!(done.report, None);
    }
}

#[tokio::test]
async fn without_a_terminal_nobody_is_asked() {
    let (done, shown) = answered(&["VERDICT: PASS", "pat"], false).await;
    let Ended::NotStarted { failure } = done.ended else {
        panic!("{:?}", done.ended)
    };
    assert_eq!(failure.code, Code::AgentNotRunnable);
    assert_eq!((done.report, shown), (None, String::new()));
}

#[tokio::test]
async fn a_person_who_does_not_answer_holds_neither_budget_nor_stop() {
    struct Silent(std::sync::mpsc::Receiver<()>);
    impl Terminal for Silent {
        fn is_interactive(&self) -> bool {
            true
        }
        fn show(&mut self, _: &str) -> io::Result<()> {
            Ok(())
        }
        fn line(&mut self) -> io::Result<Option<String>> {
            self.0.recv().ok();
            Ok(Some("VERDICT: PASS".to_owned()))
        }
    }
    let (_hold, silence) = std::sync::mpsc::channel();
    let (stop, now) = (CancellationToken::new(), Duration::ZERO);
    let done = dispatch(question(), Box::new(Silent(silence)), now, stop.clone()).await;
    assert_eq!(done.ended, Ended::TimedOut);
    stop.cancel();
    let (_hold, silence) = std::sync::mpsc::channel();
    let hour = Duration::from_hours(1);
    let done = dispatch(question(), Box::new(Silent(silence)), hour, stop).await;
    assert_eq!(done.ended, Ended::Stopped);
}
