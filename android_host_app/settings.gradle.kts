// For Android Studio. Not run by us: tools/build-host-app is what makes the APK.
pluginManagement {
    repositories {
        google()
        mavenCentral()
    }
}
dependencyResolutionManagement {
    repositories {
        google()
        mavenCentral()
    }
}
rootProject.name = "webview-bridge-host"
include(":app")
