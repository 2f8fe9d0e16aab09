// Starts the dashboard in the page: asks who is there, then shows the door or the screens.
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import './styles/base.css'
import './styles/parts.css'
import './styles/drawings.css'
import './styles/shell.css'
import { learnDocument } from './api/document.ts'
import { follow, unfollow } from './api/live.ts'
import { authConfig, learnWho, me, startFault } from './api/session.ts'
import { Setup, isSettingUp } from './app/setup.tsx'
import { Shell } from './app/shell.tsx'
import { SignIn } from './app/sign-in.tsx'
import { path } from './parts/location.ts'
import './parts/theme.ts'
import { Fault, Loading } from './parts/page.tsx'

function App() {
  const who = me.value
  const isIn = who !== null && who !== undefined
  useEffect(() => {
    if (!isIn) return
    follow()
    void learnDocument()
    return unfollow
  }, [isIn])
  if (startFault.value !== '') {
    return (
      <div class="door">
        <main class="card" id="main">
          <h1>gslbd</h1>
          <Fault fault={startFault.value} reload={() => void learnWho()} />
        </main>
      </div>
    )
  }
  if (who === undefined) {
    return (
      <div class="door">
        <Loading />
      </div>
    )
  }
  if (who === null && authConfig.value?.starting === true) return <Starting />
  const isNew = who === null && authConfig.value?.setupOpen === true
  if (isNew || (isIn && isSettingUp(path.value))) return <Setup />
  return isIn ? <Shell /> : <SignIn />
}

const againMs = 2_000

function Starting() {
  useEffect(() => {
    const timer = setInterval(() => void learnWho(), againMs)
    return () => clearInterval(timer)
  }, [])
  return (
    <div class="door">
      <main class="card" id="main" aria-live="polite">
        <h1>gslbd is starting</h1>
        <p>Its database is being made, which takes some seconds. This page goes on by itself.</p>
      </main>
    </div>
  )
}

void learnWho()
render(<App />, document.getElementById('app')!)
