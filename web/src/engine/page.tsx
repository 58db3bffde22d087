import { rate } from "../answer";
import { ServerError, type Client } from "../client";
import { useEffect, useState } from "../hooks";
import { Chart } from "./chart";
import { Grid } from "./grid";
import { RateHistory, duration, readEngine, type EngineState } from "./state";

const askedEvery = 1000;

/** The live view of the engine. It asks the server only while it can be seen. */
export function EnginePage({ client }: { client: Client }) {
  const [history] = useState(() => new RateHistory());
  const [state, setState] = useState<EngineState>();
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    let abort = new AbortController();
    let timer: number | undefined;
    const ask = async (): Promise<void> => {
      const { signal } = abort;
      const started = performance.now();
      try {
        const answer = readEngine(await client.json("engine?blocks=1", signal));
        if (signal.aborted) return;
        history.add(answer.tokens, performance.now());
        setState(answer);
        setTrouble("");
      } catch (error) {
        if (signal.aborted) return;
        setTrouble(error instanceof ServerError ? error.message : `The page failed: ${String(error)}`);
        if (error instanceof ServerError && error.status === 401) return; // The user has no key: do not ask again.
      }
      // A server that is slow to answer is asked less often.
      const wait = Math.max(askedEvery, 4 * (performance.now() - started));
      timer = window.setTimeout(() => void ask(), wait);
    };
    const seen = () => {
      window.clearTimeout(timer);
      abort.abort();
      abort = new AbortController();
      if (document.visibilityState === "visible") void ask();
    };
    document.addEventListener("visibilitychange", seen);
    seen();
    return () => {
      document.removeEventListener("visibilitychange", seen);
      window.clearTimeout(timer);
      abort.abort();
    };
  }, [client]);
  return (
    <div class="scroll">
      <div class="engine">
        {trouble && (
          <div class="error" role="alert">
            <p>{trouble}</p>
          </div>
        )}
        {state && <EngineView state={state} history={history} />}
      </div>
    </div>
  );
}

function EngineView({ state, history }: { state: EngineState; history: RateHistory }) {
  const { requests, tokens, cache, blocks, steps } = state;
  const latest = history.generated[history.generated.length - 1];
  return (
    <>
      <p class="faint">
        {[
          state.model,
          `context ${whole(state.contextLength)} tokens`,
          `up ${duration(state.uptime)}`,
        ].join(" · ")}
      </p>
      <dl class="figures">
        <Figure name="Running" value={whole(requests.running)} more={`of at most ${whole(state.mostRunning)}`} />
        <Figure name="Waiting" value={whole(requests.waiting)} more={`${whole(requests.waitingTokens)} tokens`} />
        <Figure name="Finished" value={whole(requests.finished)} more={`${whole(requests.preemptions)} preempted`} />
        <Figure name="Generated" value={whole(tokens.generated)} more="tokens" />
        <Figure name="Prompts" value={whole(tokens.prompt)} more="tokens" />
        <Figure name="Cached" value={whole(tokens.cached)} more={share(tokens.cached, tokens.prompt + tokens.cached)} />
      </dl>
      <section aria-labelledby="cache-title">
        <h2 id="cache-title">Blocks of the cache</h2>
        <Grid blocks={blocks} total={cache.blocks} blockSize={cache.blockSize} />
      </section>
      <div class="charts">
        <Chart title="Generated" unit="tokens/s" values={history.generated} format={rate} latest={latest} span="while this page is open" />
        <Chart title="Step time" unit="ms" values={steps.map((step) => step.time)} format={rate} span="the last steps" bars />
        <Chart title="Tokens in a step" unit="" values={steps.map((step) => step.tokens)} format={whole} span="the last steps" bars />
        <Chart title="Sequences in a step" unit="" values={steps.map((step) => step.sequences)} format={whole} span="the last steps" bars />
      </div>
    </>
  );
}

function Figure({ name, value, more }: { name: string; value: string; more: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{value}</strong>
        <small>{more}</small>
      </dd>
    </div>
  );
}

function whole(value: number): string {
  if (value >= 1e6) return value.toLocaleString("en-US", { notation: "compact", maximumFractionDigits: 2 });
  return Math.round(value).toLocaleString("en-US");
}

function share(part: number, all: number): string {
  return all > 0 ? `${Math.round((100 * part) / all)} % of prompts` : "no prompt yet";
}
