// A WebSocket that reconnects with growing delays until the server denies access.

const FIRST_DELAY = 1_000;
const LONGEST_DELAY = 60_000;
const ACCESS_DENIED = [4401, 4403];

// `onEvent` gets each parsed message, `onReconnect` runs when events may have been missed.
export function subscribe(path, onEvent, onReconnect) {
  let delay = FIRST_DELAY;
  let hasFailed = false;

  function connect() {
    const socket = new WebSocket(location.origin.replace("http", "ws") + path);
    socket.addEventListener("open", () => {
      if (hasFailed) onReconnect();
      delay = FIRST_DELAY;
    });
    socket.addEventListener("message", (message) => onEvent(JSON.parse(message.data)));
    socket.addEventListener("close", (event) => {
      if (ACCESS_DENIED.includes(event.code)) return;
      hasFailed = true;
      setTimeout(connect, delay);
      delay = Math.min(delay * 2, LONGEST_DELAY);
    });
  }

  connect();
}
