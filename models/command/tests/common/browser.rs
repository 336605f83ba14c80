//! A browser without a window, which ChromeDriver drives by the WebDriver protocol (<https://www.w3.org/TR/webdriver2/>).

use std::error::Error;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A session of the browser, which ends when it is dropped.
pub(crate) struct Browser {
    driver: Child,
    /// The address of the session.
    address: String,
    profile: TempDir,
    /// Kept open, because the driver would fail to write to it.
    _output: Lines<BufReader<ChildStdout>>,
}

/// How long to look for something that a page does after a while.
const LOOKS: u32 = 2000;

impl Browser {
    /// A browser with a window of this size; `None`, with a message, if none is installed.
    pub(crate) fn open(size: [u32; 2], is_dark: bool) -> Result<Option<Self>, Box<dyn Error>> {
        let profile = tempfile::tempdir()?;
        let mut driver = Command::new("chromedriver");
        // What driver and browser leave behind goes with the profile.
        driver.arg("--port=0").env("TMPDIR", profile.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut driver) = driver.spawn() else {
            eprintln!("skipped: chromedriver is not installed");
            return Ok(None);
        };
        let mut output = BufReader::new(driver.stdout.take().ok_or("no output")?).lines();
        let port = output.by_ref().map_while(Result::ok).find_map(|line| {
            let rest = line.split("started successfully on port ").nth(1)?;
            rest.trim_end_matches('.').parse::<u16>().ok()
        });
        let port = port.ok_or("chromedriver does not say where it listens")?;
        let address = format!("http://127.0.0.1:{port}/session");
        let mut browser = Self { driver, address, profile, _output: output };
        let mut arguments: Vec<String> = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ]
        .map(str::to_owned)
        .to_vec();
        arguments.push(format!("--user-data-dir={}", browser.profile.path().display()));
        let capabilities = json!({
            "browserName": "chrome",
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": {
                "args": arguments,
                // Windows cannot be as narrow as phones are.
                "mobileEmulation": { "deviceMetrics": { "width": size[0], "height": size[1], "pixelRatio": 1 } },
            },
        });
        let session = match browser.post("", json!({ "capabilities": { "alwaysMatch": capabilities } })) {
            Err(error) if error.to_string().contains("cannot find") => {
                eprintln!("skipped: chromium is not installed");
                return Ok(None);
            }
            session => session?,
        };
        let id = session["sessionId"].as_str().ok_or("no session")?;
        browser.address = format!("{}/{id}", browser.address);
        if is_dark {
            let features = json!([{ "name": "prefers-color-scheme", "value": "dark" }]);
            let parameters = json!({ "features": features });
            browser.post("/goog/cdp/execute", json!({ "cmd": "Emulation.setEmulatedMedia", "params": parameters }))?;
        }
        Ok(Some(browser))
    }

    /// Opens a file.
    pub(crate) fn load(&self, page: &Path) -> Result<(), Box<dyn Error>> {
        self.post("/url", json!({ "url": format!("file://{}", page.display()) })).map(drop)
    }

    /// What a script returns.
    pub(crate) fn run(&self, script: &str) -> Result<Value, Box<dyn Error>> {
        self.post("/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// Waits until the browser has drawn so many times.
    pub(crate) fn let_draw(&self, times: u32) -> Result<(), Box<dyn Error>> {
        let script = "const [times, done] = arguments; let left = times; \
                      (function next() { left-- > 0 ? requestAnimationFrame(next) : done(null); })();";
        self.post("/execute/async", json!({ "script": script, "args": [times] })).map(drop)
    }

    /// Looks again and again whether a script returns true.
    pub(crate) fn until(&self, script: &str) -> Result<(), Box<dyn Error>> {
        for _ in 0..LOOKS {
            if self.run(script)? == json!(true) {
                return Ok(());
            }
            self.let_draw(1)?;
        }
        Err(format!("it does not become true: {script}").into())
    }

    pub(crate) fn click(&self, selector: &str) -> Result<(), Box<dyn Error>> {
        self.post(&format!("{}/click", self.element(selector)?), json!({})).map(drop)
    }

    /// Types into an element, which gets the focus.
    pub(crate) fn press(&self, selector: &str, keys: &str) -> Result<(), Box<dyn Error>> {
        self.post(&format!("{}/value", self.element(selector)?), json!({ "text": keys })).map(drop)
    }

    /// Drags a mouse or a finger, `touch`, from the middle of an element.
    pub(crate) fn drag(&self, pointer: &str, selector: &str, [right, down]: [i32; 2]) -> Result<(), Box<dyn Error>> {
        let element = self.post("/element", json!({ "using": "css selector", "value": selector }))?;
        let actions = json!([
            { "type": "pointerMove", "origin": element, "x": 0, "y": 0 },
            { "type": "pointerDown", "button": 0 },
            { "type": "pointerMove", "origin": "pointer", "x": right, "y": down },
            { "type": "pointerUp", "button": 0 },
        ]);
        let parameters = json!({ "pointerType": pointer });
        let pointer = json!({ "type": "pointer", "id": pointer, "parameters": parameters, "actions": actions });
        self.post("/actions", json!({ "actions": [pointer] })).map(drop)
    }

    /// What pages have complained of since it was asked last.
    pub(crate) fn complaints(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        Ok(self.post("/se/log", json!({ "type": "browser" }))?.as_array().cloned().unwrap_or_default())
    }

    fn element(&self, selector: &str) -> Result<String, Box<dyn Error>> {
        let element = self.post("/element", json!({ "using": "css selector", "value": selector }))?;
        let id = element.as_object().and_then(|object| object.values().next()).and_then(Value::as_str);
        Ok(format!("/element/{}", id.ok_or("no element")?))
    }

    fn post(&self, command: &str, body: Value) -> Result<Value, Box<dyn Error>> {
        let request = ureq::post(format!("{}{command}", self.address)).config().http_status_as_error(false).build();
        let answer = request.send(body.to_string())?.body_mut().read_to_string()?;
        let mut answer: Value = serde_json::from_str(&answer)?;
        match answer["value"]["error"].as_str() {
            Some(error) => Err(format!("{command}: {error}: {}", answer["value"]["message"]).into()),
            None => Ok(answer["value"].take()),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = ureq::delete(&self.address).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
