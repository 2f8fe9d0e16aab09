// `gslbd agent`: runs a probe agent. The same as `gslbd serve --role agent`.
import type { Command } from '#system/process/command.ts'
import { serve } from './serve.ts'

const usage = `Usage: gslbd agent [--settings FILE] [--data-dir DIR] [--log-level LEVEL]
                   [--log-format FORMAT] [--replace [--detach]]

Runs a probe agent: it pulls bundles from bundle.urls, probes their members from where it
stands, and tells the other nodes what it finds, by redis.url or, without one, by the
control nodes of bundle.urls. It has no DNS port, repository, database or API but /metrics,
/api/v1/health and /api/v1/ready. The same as gslbd serve --role agent.

  --settings FILE      gslbd.yaml; without it every setting has its default
  --data-dir DIR       where the agent keeps its state (GSLB_DATA_DIR; default ./data)
  --log-level LEVEL    debug, info, warn or error (GSLB_LOG_LEVEL; default info)
  --log-format FORMAT  auto, text or json (GSLB_LOG_FORMAT; default auto: text on a terminal,
                       JSON elsewhere)
  --replace            take the place of the process that runs with this data directory
  --detach             with --replace: go on in the background, and return when it is ready
                       (exit 0) or was given up (exit 1)`

export const agent: Command = {
  name: 'agent',
  usage,
  run: (args, io) => serve.run(['--role', 'agent', ...args], io),
}
