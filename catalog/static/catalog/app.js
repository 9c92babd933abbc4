// Enhancements to plain links and forms; every page also works without JavaScript.
import "./js/clipboard.js";
import "./js/keyboard.js";
import "./js/requests.js";
import "./js/swaps.js";
import "./js/errors.js";
import "./js/live_status.js";
import "./js/live_registry.js";
