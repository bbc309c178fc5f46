# Sourced by the tools. Everything here is safe to repeat and prints one line for each thing it really does.
# After `setup_python run|test`, $PYTHON is the interpreter of the repository's .venv.

set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
VENV="$ROOT/.venv"
PYTHON="$VENV/bin/python"
CACHE="$ROOT/.cache"
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '%s\n' "$*" >&2; }
die() {
    say "error: $*"
    exit 1
}
is_root() { [ "$(id -u)" -eq 0 ]; }
has() { command -v "$1" >/dev/null 2>&1; }

# Output of a quiet step is shown only when the step fails.
quietly() {
    local log
    log="$(mktemp)"
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 40 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

APT_UPDATED=""
apt_install() {
    has apt-get && is_root || return 1
    if [ -z "$APT_UPDATED" ]; then
        say "apt-get: refreshing the package lists"
        quietly apt-get update || return 1
        APT_UPDATED=1
    fi
    say "apt-get: installing $*"
    quietly env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# The first interpreter that is new enough, by path.
find_python() {
    local name
    for name in python3 python3.13 python3.12 python3.11 python3.14; do
        if has "$name" && "$name" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' 2>/dev/null; then
            "$name" -c 'import sys; print(sys.executable)'
            return 0
        fi
    done
    return 1
}

stamp_of() {
    # The folder is part of the stamp: a virtual environment does not survive being moved.
    { printf '%s\n' "$1" "$ROOT"; cat "$ROOT/pyproject.toml" "$ROOT/tools/constraints.txt"; } | sha256sum | cut -d' ' -f1
}

# setup_python run   the package and what it needs
# setup_python test  and what its tests and checks need
setup_python() {
    local wanted="$1" stamp
    stamp="$(stamp_of test)"
    [ -x "$PYTHON" ] && [ -f "$VENV/.stamp-test" ] && [ "$(cat "$VENV/.stamp-test")" = "$stamp" ] && return 0
    if [ "$wanted" = run ]; then
        stamp="$(stamp_of run)"
        [ -x "$PYTHON" ] && [ -f "$VENV/.stamp-run" ] && [ "$(cat "$VENV/.stamp-run")" = "$stamp" ] && return 0
    fi
    (
        # Two tools started at once must not build one environment over each other.
        if has flock; then mkdir -p "$CACHE" && exec 9>"$CACHE/venv.lock" && flock 9; fi
        [ -f "$VENV/.stamp-$wanted" ] && [ "$(cat "$VENV/.stamp-$wanted")" = "$stamp" ] && exit 0
        install_python "$wanted"
        printf '%s\n' "$stamp" >"$VENV/.stamp-$wanted"
    )
}

install_python() {
    local wanted="$1" base requirements
    if ! "$PYTHON" -c "import pip, sys; raise SystemExit(sys.version_info < (3, 11) or sys.prefix != '$VENV')" 2>/dev/null; then
        base="$(find_python)" || {
            apt_install python3 python3-venv || true
            base="$(find_python)" || die "Python 3.11 or newer is needed and none was found; install one (Debian: apt-get install python3 python3-venv)."
        }
        say "python: creating .venv with $("$base" --version 2>&1) ($base)"
        if ! "$base" -c 'import ensurepip, venv' 2>/dev/null; then
            apt_install python3-venv || die "$base cannot create virtual environments; install its venv package (Debian: apt-get install python3-venv)."
        fi
        quietly "$base" -m venv --clear "$VENV" || die "creating .venv failed."
    fi
    rm -f "$VENV"/.stamp-*
    requirements="$VENV/requirements-$wanted.txt"
    if [ "$wanted" = run ]; then
        sed '/^# For tests and checks/,$d' "$ROOT/tools/constraints.txt" >"$requirements"
    else
        cp "$ROOT/tools/constraints.txt" "$requirements"
    fi
    say "python: installing $(grep -c '==' "$requirements") pinned packages"
    quietly "$PYTHON" -m pip install --require-hashes -r "$requirements" || die "pip could not install the packages of tools/constraints.txt."
    say "python: installing webview-bridge from this folder (editable)"
    quietly "$PYTHON" -m pip install --no-deps --no-build-isolation -e "$ROOT" || die "pip could not install the package."
}

# The names and variables are those of bridge/virtual_device. Ubuntu's chromium package is a stub for a snap, and where
# snaps do not run it prints an error instead of a version: that is none.
find_chromium() {
    local name
    for name in "${BRIDGE_CHROMIUM:-}" "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable chrome microsoft-edge; do
        [ -n "$name" ] && has "$name" && return 0
    done
    [ -x "/Applications/Chromium.app/Contents/MacOS/Chromium" ] ||
        [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]
}

setup_chromium() {
    find_chromium && return 0
    if has apt-get && is_root; then
        apt_install chromium && find_chromium && chromium --version >/dev/null 2>&1 && return 0
        say "chromium: apt-get has no Chromium that works here; install Google Chrome or Chromium and run this again."
        return 1
    fi
    say "chromium: none found, and only root can install it: run 'sudo apt-get install chromium' (the virtual device needs it; a phone does not)."
    return 1
}

# npm fetches the tools that build the injected script. Nothing at run time needs node.
setup_node() {
    [ -f "$ROOT/injected_js/package.json" ] || return 0
    has node && has npm && return 0
    apt_install nodejs npm || true
    has node && has npm && return 0
    say "node: not found; install Node.js with npm to build the injected script (Debian: apt-get install nodejs npm)."
    return 1
}

# setup_javascript_tools: the exact tools that injected_js/package.json names, in $JAVASCRIPT_TOOLS.
setup_javascript_tools() {
    local packages home
    packages="$(sed -n '/"devDependencies"/,/}/p' "$ROOT/injected_js/package.json" |
        grep -o '"[a-z/@-]*": *"[0-9][0-9.]*"' | sed 's/": *"/@/; s/"//g')"
    [ -n "$packages" ] || die "injected_js/package.json must name exact versions of its tools."
    home="$CACHE/javascript-$(printf '%s' "$packages" | sha256sum | cut -c1-12)"
    JAVASCRIPT_TOOLS="$home/node_modules"
    [ ! -f "$home/installed" ] || return 0
    say "node: installing $(printf '%s' "$packages" | tr '\n' ' ')into .cache"
    mkdir -p "$home"
    # shellcheck disable=SC2086 # one package per word
    quietly npm install --prefix "$home" --no-save --no-audit --no-fund --no-package-lock $packages ||
        die "npm could not install the tools of injected_js/package.json."
    touch "$home/installed"
}

# build_injected [--check]: what injected_js/build.mjs does.
build_injected() {
    setup_javascript_tools
    WEBVIEW_BRIDGE_NODE_MODULES="$JAVASCRIPT_TOOLS" node "$ROOT/injected_js/build.mjs" "$@"
}

# check_javascript_types: JSDoc types of injected_js/src.
check_javascript_types() {
    setup_javascript_tools
    "$JAVASCRIPT_TOOLS/.bin/tsc" -p "$ROOT/injected_js"
}

# setup_playwright: playwright-core, the exact version that tests/interop names, for the test that connects it to a WebView.
setup_playwright() {
    local version home
    version="$(sed -n 's/^PLAYWRIGHT_VERSION = "\([0-9.]*\)"$/\1/p' "$ROOT/tests/interop/test_playwright.py")"
    [ -n "$version" ] || die "tests/interop/test_playwright.py must name one exact version of playwright-core."
    home="$CACHE/playwright-core-$version"
    if [ ! -f "$home/node_modules/playwright-core/package.json" ]; then
        say "node: installing playwright-core $version into .cache"
        mkdir -p "$home"
        PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 quietly npm install --prefix "$home" --no-save --no-audit --no-fund \
            --no-package-lock "playwright-core@$version" || {
            rm -rf "$home"
            say "node: npm could not install playwright-core $version; its test will be skipped."
        }
    fi
}

# setup_pyright: the exact version that tests/docs names, for the test of the types that users see.
setup_pyright() {
    local version home
    version="$(sed -n 's/^PYRIGHT_VERSION = "\([0-9.]*\)"$/\1/p' "$ROOT/tests/docs/test_types_of_suites.py")"
    [ -n "$version" ] || die "tests/docs/test_types_of_suites.py must name one exact version of pyright."
    home="$CACHE/pyright-$version"
    [ ! -f "$home/node_modules/pyright/package.json" ] || return 0
    say "node: installing pyright $version into .cache"
    mkdir -p "$home"
    quietly npm install --prefix "$home" --no-save --no-audit --no-fund --no-package-lock "pyright@$version" || {
        rm -rf "$home"
        say "node: npm could not install pyright $version; its test will be skipped."
    }
}

# setup_ray: Ray, the exact version that tests/pool names, in an environment of its own beside everything of .venv.
setup_ray() {
    local version home
    version="$(sed -n 's/^RAY_VERSION = "\([0-9.]*\)"$/\1/p' "$ROOT/tests/pool/test_on_ray.py")"
    [ -n "$version" ] || die "tests/pool/test_on_ray.py must name one exact version of ray."
    home="$CACHE/ray-$version"
    "$home/bin/python" -c 'import ray, websockets' 2>/dev/null && return 0
    say "python: installing ray $version into .cache"
    quietly "$PYTHON" -m venv --clear "$home"
    "$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
        >"$("$home/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/beside.pth"
    quietly "$home/bin/python" -m pip install "ray==$version" || {
        rm -rf "$home"
        say "python: pip could not install ray $version; its tests will be skipped."
    }
}

# setup_pytest_playwright: the exact version that tests/interop names, in an environment of its own beside everything of
# .venv, our plugin too. It drives the installed Chromium, so no browser is fetched.
setup_pytest_playwright() {
    local version home
    version="$(sed -n 's/^PYTEST_PLAYWRIGHT_VERSION = "\([0-9.]*\)"$/\1/p' "$ROOT/tests/interop/test_pytest_playwright.py")"
    [ -n "$version" ] || die "tests/interop/test_pytest_playwright.py must name one exact version of pytest-playwright."
    home="$CACHE/pytest-playwright-$version"
    "$home/bin/python" -c 'import pytest_playwright, websockets' 2>/dev/null && return 0
    say "python: installing pytest-playwright $version into .cache"
    quietly "$PYTHON" -m venv --clear "$home"
    "$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
        >"$("$home/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/beside.pth"
    quietly "$home/bin/python" -m pip install "pytest-playwright==$version" || {
        rm -rf "$home"
        say "python: pip could not install pytest-playwright $version; its tests will be skipped."
    }
}

# What building the host app takes from the system; tools/build_host_app.py fetches the rest.
setup_host_app() {
    local missing=()
    has javac || missing+=(openjdk-17-jdk-headless)
    if [ -z "${ANDROID_HOME:-}" ]; then
        has mvn || missing+=(maven)
        has zipalign || missing+=(zipalign)
        has apksigner || missing+=(apksigner)
    fi
    find_python >/dev/null && "$(find_python)" -m pip --version >/dev/null 2>&1 || missing+=(python3 python3-pip)
    [ "${#missing[@]}" -eq 0 ] || apt_install "${missing[@]}" ||
        say "host app: not found, and only root can install them: ${missing[*]} (Debian's names)."
}

# setup_docs: MkDocs in an environment of its own that also sees the packages of .venv; sets $DOCS.
DOCS="$CACHE/docs"
DOCS_PACKAGES=(mkdocs-material==9.8.1 "mkdocstrings[python]==1.0.8" pyyaml)
setup_docs() {
    [ -f "$DOCS/.stamp" ] && [ "$(cat "$DOCS/.stamp")" = "${DOCS_PACKAGES[*]} $ROOT" ] && return 0
    say "python: installing MkDocs into .cache"
    rm -rf "$DOCS"
    quietly "$PYTHON" -m venv "$DOCS" || return 1
    "$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
        >"$("$DOCS/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/beside.pth"
    quietly "$DOCS/bin/python" -m pip install "${DOCS_PACKAGES[@]}" || {
        rm -rf "$DOCS"
        say "python: pip could not install MkDocs."
        return 1
    }
    printf '%s' "${DOCS_PACKAGES[*]} $ROOT" >"$DOCS/.stamp"
}
